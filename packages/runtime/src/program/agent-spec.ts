import { access } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import type { AgentSpec } from '@concerto/agents';
import type { Json } from '@concerto/base';
import type { IrAgent } from '@concerto/ir';
import { type ProgramWorld, WorldFailure } from './program-world.ts';

/** Where its paths start, and who is told of one that was found elsewhere. */
export type AgentPlaces = Pick<ProgramWorld, 'directory' | 'projectDirectory' | 'log'>;

/** How to start a declared agent: the manifest's table with what the declaration says over it. */
export async function agentSpec(agent: IrAgent, world: AgentPlaces): Promise<AgentSpec> {
  const table = { ...agent.manifest, ...agent.config };
  const protocol = oneOf(table.protocol, ['ndjson', 'acp', 'claude', 'codex']) ?? 'ndjson';
  // Two of the protocols name their program themselves.
  const program = text(table.command) ?? (protocol === 'claude' || protocol === 'codex' ? protocol : undefined);
  if (program === undefined) {
    throw new WorldFailure(
      'spawn',
      `agent ${agent.name}: nothing says how to start "${agent.connector}"; add [agents.${agent.connector}] with a command to Concerto.toml`,
    );
  }
  const workingDir = resolve(world.projectDirectory, text(table.working_dir) ?? '.');
  const [command = '', ...args] = await Promise.all(
    [program, ...texts(table.args)].map((word) => findPath(word, { agent, world, workingDir })),
  );
  return {
    name: agent.name,
    protocol,
    command,
    args,
    env: variables(table.env),
    workingDir,
    // A program that says nothing sends bare lines, which every command-line agent understands, as far as they are lines.
    inputFormat: oneOf(table.input_format, ['text', 'json']) ?? 'line-or-json',
    ...optional('outputFormat', oneOf(table.output_format, ['text', 'json'])),
    ...optional('plainText', oneOf(table.plain_text, ['result', 'log', 'error'])),
    ...(agent.params === undefined ? {} : { params: agent.params }),
  };
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

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function oneOf<const Name extends string>(value: Json | undefined, names: readonly Name[]): Name | undefined {
  return names.find((name) => name === value);
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [name in Key]?: Value } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a computed key widens to string
  return (value === undefined ? {} : { [key]: value }) as { [name in Key]?: Value };
}

function variables(value: Json | undefined): Record<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  const entries: [string, string][] = [];
  for (const [name, item] of Object.entries(value)) if (typeof item === 'string') entries.push([name, item]);
  return Object.fromEntries(entries);
}
