import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, JsonObject } from '@concerto/base';
import { describe, expect, test } from 'vitest';
import type { AgentOutput, AgentSpec } from '../src/index.ts';
import { leftOut } from './left-out.ts';
import { start } from './start.ts';

/** What real programs wrote (versions in the first lines of each), and what we make of it. */
const wires = [
  ['claude-tools', 'claude'],
  ['claude-background', 'claude'],
  ['claude-retry', 'claude'],
  ['codex-tools', 'codex'],
  ['codex-code-mode', 'codex'],
  ['codex-question', 'codex'],
  ['codex-sub-agent', 'codex'],
  ['opencode', 'acp'],
  ['gemini', 'acp'],
  ['claude-acp', 'acp'],
] as const;

const pathOf = (wire: string): string => join(import.meta.dirname, 'wires', `${wire}.jsonl`);

async function replay(wire: string, protocol: NonNullable<AgentSpec['protocol']>): Promise<readonly AgentOutput[]> {
  const agent = await start('replay', { protocol, args: [pathOf(wire)] }, { initTimeoutMs: 20_000 });
  await agent.prompt({ text: 'Go', id: 'm1' });
  const said: AgentOutput[] = [];
  for await (const batch of agent.output) {
    for (const output of batch) {
      said.push(output);
      if (output.kind !== 'message') continue;
      const { type, id } = output.raw;
      if ((type === 'approval' || type === 'question') && typeof id === 'string') {
        await agent.reply({ inReplyTo: type, inReplyToId: id, value: 'yes' });
      }
      if (type === 'result' || type === 'error') return said;
    }
  }
  return said;
}

type Leaf = { readonly path: string; readonly value: Json };

/** Every value of a message, by the names that lead to it. */
function leaves(value: Json, path: string): readonly Leaf[] {
  if (Array.isArray(value)) return value.flatMap((entry: Json) => leaves(entry, path));
  if (typeof value !== 'object' || value === null) return [{ path, value }];
  return Object.entries(value).flatMap(([key, entry]: [string, Json]) => leaves(entry, `${path}.${key}`));
}

/** What kind of message it is: the names of its fields mean nothing without it. */
function kindOf(message: JsonObject): string {
  const text = (value: Json | undefined, key: string): string => {
    const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
    return typeof found === 'string' ? `/${found}` : '';
  };
  const { params } = message;
  const update = typeof params === 'object' && params !== null && 'update' in params ? params.update : undefined;
  const kind = `${text(message, 'type')}${text(message, 'subtype')}${text(message, 'method')}${text(update, 'sessionUpdate')}`;
  return kind === '' ? 'answer' : kind.slice(1);
}

/** Whether a value is in what we say; words that stand for nothing are not looked for. */
function isSaid({ value }: Leaf, said: string): boolean {
  if (typeof value === 'string') return value.trim() === '' || said.includes(JSON.stringify(value).slice(1, -1));
  return typeof value !== 'number' || value === 0 || new RegExp(`[:,[]${value}[,}\\]]`).test(said);
}

describe.each(wires)('the recorded wire %s', (wire, protocol) => {
  test('has no field that is neither shown, kept nor left out for a reason', async () => {
    const said = JSON.stringify(await replay(wire, protocol));
    const lines = readFileSync(pathOf(wire), 'utf8').split('\n').filter(Boolean);
    const all = lines.flatMap((line) => {
      const message: JsonObject = JSON.parse(line);
      return 'PROMPT' in message ? [] : leaves(message, kindOf(message));
    });
    const found = new Set(all.filter((leaf) => isSaid(leaf, said)).map(({ path }) => path));
    const lost = new Set(all.map(({ path }) => path).filter((path) => !found.has(path)));
    const reasons = leftOut[protocol];
    expect([...lost].filter((path) => !reasons.some(([pattern]) => pattern.test(path)))).toEqual([]);
  });

  test('every call begins once and ends once, and the turn has one end', async () => {
    const said = await replay(wire, protocol);
    const shown = said.flatMap((output) => (output.kind === 'message' ? (output.shown ?? []) : []));
    const ids = (type: string) =>
      shown.flatMap((event) => (event.type === type && 'callId' in event ? [event.callId] : []));
    expect(new Set(ids('functionCall')).size).toBe(ids('functionCall').length);
    expect(new Set(ids('functionResult'))).toEqual(new Set(ids('functionCall')));
    expect(ids('functionResult')).toHaveLength(ids('functionCall').length);
    expect(said.filter((output) => output.kind === 'message' && output.raw.type === 'result')).toHaveLength(1);
  });
});
