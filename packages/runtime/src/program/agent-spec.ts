import { access } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { type AgentSpec, agentSpecOf } from '@concerto/agents';
import type { IrAgent } from '@concerto/ir';
import { type ProgramWorld, WorldFailure } from './program-world.ts';

/** Where its paths start, and who is told of one that was found elsewhere. */
export type AgentPlaces = Pick<ProgramWorld, 'directory' | 'projectDirectory' | 'log'>;

/** How to start a declared agent: the manifest's table with what the declaration says over it. */
export async function agentSpec(agent: IrAgent, world: AgentPlaces): Promise<AgentSpec> {
  const spec = declared(agent, world);
  const workingDir = spec.workingDir ?? world.projectDirectory;
  const [command = '', ...args] = await Promise.all(
    [spec.command, ...(spec.args ?? [])].map((word) => findPath(word, { agent, world, workingDir })),
  );
  return {
    ...spec,
    command,
    args,
    // A program that says nothing sends bare lines, which every command-line agent understands, as far as they are lines.
    inputFormat: spec.inputFormat ?? 'line-or-json',
  };
}

function declared({ name, connector, manifest, config, params }: IrAgent, world: AgentPlaces): AgentSpec {
  const table = { ...manifest, ...config, ...(params === undefined ? {} : { params }) };
  try {
    return agentSpecOf(name, table, world.projectDirectory);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new WorldFailure('spawn', `${why}; see [agents.${connector}] in Concerto.toml`, { cause });
  }
}

type PathPlace = { readonly agent: IrAgent; readonly world: AgentPlaces; readonly workingDir: string };

/** A path that is not in the agent's directory but in the caller's is most likely the one that was meant. */
async function findPath(word: string, { agent, world, workingDir }: PathPlace): Promise<string> {
  if (!word.includes('/') || isAbsolute(word) || word.startsWith('-')) return word;
  if (await isThere(join(workingDir, word))) return word;
  const under = resolve(world.directory, word);
  if (!(await isThere(under))) return word;
  world.log('warn', `agent ${agent.name}: ${word} is not in ${workingDir}; using ${under}`);
  return under;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
