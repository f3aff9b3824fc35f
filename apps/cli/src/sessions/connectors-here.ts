import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConcertoClient } from '@concerto/client';
import type { Session } from '@concerto/protocol';
import { compileQuietly } from '../language/compile-target.ts';
import { findManifest } from '../language/project.ts';

type Connectors = ReadonlyMap<string, string>;
export type Whose = Pick<Session, 'id' | 'kind' | 'agent' | 'parent'>;

/**
 * By which name rules know the agent of a session: one that a program has opened is that of the manifest which its connector
 * names, as the program of the manifest here declares it.
 */
export function ruledHere(client: ConcertoClient): (whose: Whose) => Promise<string> {
  const programs = new Map<string, Connectors>();
  const parents = new Map<string, Promise<Session>>();
  const connectors = (program: string): Connectors => {
    const known = programs.get(program) ?? connectorsOf(program);
    programs.set(program, known);
    return known;
  };
  return async ({ kind, agent, parent }) => {
    if (kind !== 'agent' || parent === undefined) return agent;
    const asked = parents.get(parent) ?? client.get(parent);
    parents.set(parent, asked);
    const opener = await asked;
    return (opener.kind === 'program' ? connectors(opener.agent).get(agent) : undefined) ?? agent;
  };
}

/** None of a program that is not here, or has errors. */
function connectorsOf(program: string): Connectors {
  const found = findManifest('.');
  const programs = found?.manifest?.programs ?? {};
  const entry = Object.hasOwn(programs, program) ? programs[program]?.entry : undefined;
  if (found === undefined || entry === undefined) return new Map();
  const path = join(found.directory, entry);
  const module = existsSync(path) ? compileQuietly(path, false).compiled?.module : undefined;
  return new Map(module?.agents.map(({ name, connector }) => [name, connector]));
}
