import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { ok } from '@concerto/base';
import { checkModule } from '@concerto/ir';
import type { EventLog } from '@concerto/log';
import { readPrices } from '@concerto/models';
import { readStored } from '@concerto/protocol';
import * as z from 'zod';
import type { CatalogEntry, LoadedProgram } from '../catalog.ts';
import { agentSpec } from '../program/agent-spec.ts';
import { callSeconds, initSeconds } from '../program/program-agent.ts';
import { ProgramLimits } from '../program/program-limits.ts';
import { WorldFailure } from '../program/program-world.ts';

const collection = 'code';

/** What a program was started with, kept under its digest: a session that runs goes on with it, whatever becomes of the files. */
export class ProgramCode {
  readonly #log: EventLog;
  readonly #known = new Map<string, LoadedProgram>();

  constructor(log: EventLog) {
    this.#log = log;
  }

  async keep(program: LoadedProgram): Promise<string> {
    const value = JSON.stringify(program);
    const digest = createHash('sha256').update(value).digest('hex').slice(0, digestLength);
    await this.#log.createDocument({ collection, key: digest, value });
    this.#remember(digest, program);
    return digest;
  }

  async get(digest: string): Promise<LoadedProgram | undefined> {
    const known = this.#known.get(digest);
    if (known !== undefined) return known;
    const stored = await this.#log.getDocument(collection, digest);
    if (stored === undefined) return undefined;
    const program = readProgram(JSON.parse(stored.value));
    this.#remember(digest, program);
    return program;
  }

  /** How an agent of a program is started, as the program's code declares it. */
  async agentEntry(digest: string, name: string): Promise<Extract<CatalogEntry, { kind: 'agent' }> | undefined> {
    const program = await this.get(digest);
    const agent = program?.module.agents.find((candidate) => candidate.name === name);
    if (program === undefined || agent === undefined) return undefined;
    const { projectDirectory, directory = projectDirectory } = program;
    const { connector } = agent;
    const entry = {
      kind: 'agent',
      name,
      connector,
      initTimeoutMs: initSeconds(agent, callSeconds(agent, null)) * 1000,
      prices: readPrices(program.module.manifest?.prices),
    } as const;
    try {
      const spec = await agentSpec(agent, { projectDirectory, directory, log: () => {} });
      return { ...entry, spec };
    } catch (cause) {
      if (!(cause instanceof WorldFailure)) throw cause;
      return { ...entry, spec: { name, command: '' }, fault: cause.message };
    }
  }

  /** Of a program that has begun, whoever declares it; undefined where its folder is not here. */
  async programEntry(digest: string, name: string): Promise<Extract<CatalogEntry, { kind: 'program' }> | undefined> {
    const program = await this.get(digest);
    if (program === undefined || !existsSync(program.projectDirectory)) return undefined;
    return { kind: 'program', name, load: () => ok(program) };
  }

  #remember(digest: string, program: LoadedProgram): void {
    if (this.#known.size >= knownMax) this.#known.clear();
    this.#known.set(digest, program);
  }
}

const Stored = z.looseObject({
  module: z.unknown(),
  projectDirectory: z.string(),
  directory: z.string().optional(),
  mockModels: z.boolean().optional(),
  limits: ProgramLimits.optional(),
});

function readProgram(data: unknown): LoadedProgram {
  const { module, projectDirectory, directory, mockModels, limits } = readStored(Stored, data);
  const checked = checkModule(module);
  if (!checked.ok) throw new Error(`a stored program cannot be read: ${checked.error}`);
  return {
    module: checked.value,
    projectDirectory,
    ...(directory === undefined ? {} : { directory }),
    ...(mockModels === undefined ? {} : { mockModels }),
    ...(limits === undefined ? {} : { limits }),
  };
}

const digestLength = 32;
/** Programs kept in memory; more are read again. */
const knownMax = 50;
