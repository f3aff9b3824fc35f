import type { Json } from '@concerto/base';
import { readClaudeLine } from '@concerto/protocol';
import { ClaudeTranslator } from '../packages/agents/src/claude/claude-translator.ts';
import { CodexTranslator } from '../packages/agents/src/codex/codex-translator.ts';
import { compare, type Row } from './row.ts';

export const name = 'ingest: lines of Claude Code and Codex to what a session shows, against JSON.parse alone';

const LINES = 100_000;

export async function run(): Promise<readonly Row[]> {
  const claude = Array.from({ length: LINES }, (_, index) => JSON.stringify(claudeLine(index)));
  const codex = Array.from({ length: LINES }, (_, index) => JSON.stringify(codexNotice(index)));
  return [
    await compare(
      { name: 'claude: text in pieces, a call every 50', unit: 'lines/s', target: '>= 0.5' },
      {
        ours: () =>
          rate(() => {
            const translator = new ClaudeTranslator();
            for (const line of claude) translator.read(readClaudeLine(line));
          }),
        reference: () => rate(() => parseAll(claude)),
      },
    ),
    await compare(
      { name: 'codex: text in pieces, a command every 50', unit: 'lines/s', target: '>= 0.5' },
      {
        ours: () =>
          rate(() => {
            const translator = new CodexTranslator();
            for (const line of codex) {
              const { method, params }: { method: string; params: Json } = JSON.parse(line);
              translator.read(method, params);
            }
          }),
        reference: () => rate(() => parseAll(codex)),
      },
    ),
  ];
}

function parseAll(lines: readonly string[]): void {
  for (const line of lines) JSON.parse(line);
}

/** By processor time: others who use the machine at the same time should not count. */
function rate(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return LINES / ((user + system) / 1e6);
}

function claudeLine(index: number): Json {
  const common = { session_id: 'c-1', parent_tool_use_id: null, uuid: `u-${index}` };
  if (index % 50 === 48) {
    const block = {
      type: 'tool_use',
      id: `toolu_${index}`,
      name: 'Bash',
      input: { command: 'ls -la', description: 'List' },
    };
    return { type: 'assistant', message: { id: `msg_${index}`, role: 'assistant', content: [block] }, ...common };
  }
  if (index % 50 === 49) {
    const block = { type: 'tool_result', tool_use_id: `toolu_${index - 1}`, content: 'a.ts\nb.ts', is_error: false };
    return { type: 'user', message: { role: 'user', content: [block] }, ...common };
  }
  const delta = { type: 'text_delta', text: `The change ${index} touches the login and two of its callers, ` };
  return { type: 'stream_event', event: { type: 'content_block_delta', index: 0, delta }, ...common };
}

function codexNotice(index: number): Json {
  const common = { threadId: 't-1', turnId: 'turn-1' };
  const item = { type: 'commandExecution', id: `item-${index - (index % 50)}`, command: 'ls -la', cwd: '/repo' };
  if (index % 50 === 48)
    return { method: 'item/started', params: { ...common, item: { ...item, status: 'inProgress' } } };
  if (index % 50 === 49) {
    const done = { ...item, status: 'completed', exitCode: 0, aggregatedOutput: 'a.ts\nb.ts' };
    return { method: 'item/completed', params: { ...common, item: done } };
  }
  const delta = `The change ${index} touches the login and two of its callers, `;
  return { method: 'item/agentMessage/delta', params: { ...common, itemId: `item-${index - (index % 50)}`, delta } };
}
