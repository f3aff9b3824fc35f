import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { nearest } from '@concerto/base';
import type { PublicEvent, ReplayedRequest } from '@concerto/protocol';
import { comesToSupervisor, type PastRequest, replayedAnswer } from '@concerto/rules';
import { UsageError } from '../arguments.ts';
import { compileTarget } from '../language/compile-target.ts';
import { findManifest } from '../language/project.ts';

type Events = readonly PublicEvent[];

/** A program of the manifest here, or a file, as the supervisor of sessions that are past. Undefined when it has errors. */
export function supervisorPolicy(
  named: string,
):
  | ((session: string, events: Events, past: readonly PastRequest[]) => Promise<readonly ReplayedRequest[]>)
  | undefined {
  const { name, path } = programNamed(named);
  const compiled = compileTarget(path);
  if (compiled === undefined) return undefined;
  const { module, projectDirectory } = compiled;
  if ((module.supervisors ?? []).length === 0) throw new UsageError(`${path} has no function with \`@supervisor\``);
  const places = { environment: process.env, directory: process.cwd(), projectDirectory };
  return async (id, events, past) => {
    // Only whoever replays needs it, and it takes longer to load than most commands to run.
    const { replaySupervisor } = await import('@concerto/runtime');
    const asked = new Set(past.filter(comesToSupervisor).map(({ requestId }) => requestId));
    const answers = await replaySupervisor(module, { id, events, asked }, { name, ...places });
    return past.map((request) => replayedAnswer(`supervisor:${name}`, request, answers.get(request.requestId)));
  };
}

function programNamed(named: string): { readonly name: string; readonly path: string } {
  if (/\.conc(-ir)?$/.test(named) || existsSync(named)) {
    return { name: basename(named).replace(/\.conc(-ir)?$/, ''), path: named };
  }
  const found = findManifest('.');
  const programs = found?.manifest?.programs ?? {};
  const entry = Object.hasOwn(programs, named) ? programs[named]?.entry : undefined;
  if (found !== undefined && entry !== undefined) return { name: named, path: join(found.directory, entry) };
  const meant = nearest(named, Object.keys(programs));
  const hint = meant === undefined ? 'name a file, or a program of the manifest here' : `did you mean ${meant}?`;
  throw new UsageError(`there is no program ${JSON.stringify(named)}; ${hint}`);
}
