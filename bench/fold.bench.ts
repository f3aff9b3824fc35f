import { type FoldedEvent, type PublicEvent, SessionFold, textContent } from '@concerto/protocol';
import { compare, type Row } from './row.ts';

export const name = 'the fold: events to messages, calls and requests, against one million a second';

const at = '2026-11-16T00:00:00.000Z';
const EVENTS = 100_000;
const TARGET = 1_000_000;

export async function run(): Promise<readonly Row[]> {
  const mixed = logOf(EVENTS);
  const target = `>= 1.0`;
  const rate = (work: () => void): number => {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    return EVENTS / ((user + system) / 1e6);
  };
  const reference = (): number => TARGET;
  return [
    await compare(
      { name: '100k events of long turns, looked at once', unit: 'events/s', target },
      { ours: () => rate(() => void new SessionFold().takeAll(mixed).view), reference },
    ),
    await compare(
      { name: '100k events, looked at after every 1,000', unit: 'events/s', target },
      { ours: () => rate(() => look(mixed, 1_000)), reference },
    ),
    await compare(
      { name: '100k pieces of one message against 100 of 1,000', unit: 'bytes a piece', target: '<= 1.5' },
      { ours: () => bytesEach(pieces(1)), reference: () => bytesEach(pieces(100)) },
    ),
  ];
}

function look(log: readonly FoldedEvent[], every: number): void {
  const fold = new SessionFold();
  for (const [index, event] of log.entries()) {
    fold.take(event);
    if (index % every === 0) void fold.view;
  }
}

/** What a reader keeps of a log whose events are gone. */
function bytesEach(log: () => Generator<FoldedEvent>): number {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const fold = new SessionFold().takeAll(log());
  const text = fold.view.turns[0]?.entries.map((entry) => (entry.kind === 'text' ? entry.text.indexOf('\u0000') : 0));
  globalThis.gc?.();
  const used = process.memoryUsage().heapUsed - before;
  return Math.max(1, used) / EVENTS + (text?.length === 0 || fold.position === 0 ? 1 : 0);
}

function pieces(messages: number): () => Generator<FoldedEvent> {
  return function* generate() {
    yield { type: 'start', objective: textContent('go', 'user'), at, seq: 1 };
    for (let index = 0; index < EVENTS; index++) {
      const messageId = `m${Math.floor((index * messages) / EVENTS)}`;
      yield { type: 'content', content: textContent(`word ${index % 97} `), messageId, at, seq: index + 2 };
    }
  };
}

/** Turns as agents take them: thoughts, text in pieces, calls with output, now and then a question. */
function logOf(count: number): readonly FoldedEvent[] {
  const log: FoldedEvent[] = [];
  const add = (event: PublicEvent): void => void log.push({ ...event, at, seq: log.length + 1 });
  for (let step = 0; log.length < count; step++) {
    const messageId = `m${step}`;
    const callId = `c${step}`;
    if (step % 200 === 0) add({ type: 'start', objective: textContent(`turn ${step}`, 'user') });
    add({ type: 'thought', text: 'First this, then that.', messageId });
    for (let piece = 0; piece < 20; piece++)
      add({ type: 'content', content: textContent(`word ${piece} `), messageId });
    add({ type: 'functionCall', callId, name: 'Bash', args: { command: 'ls' }, messageId, kind: 'execute' });
    for (let line = 0; line < 5; line++) add({ type: 'toolOutput', callId, text: `line ${line}\n` });
    const response = { functionResponse: { name: 'Bash', response: { result: 'ok' } } };
    add({ type: 'functionResult', callId, content: { role: 'user', parts: [response] }, outcome: 'ok' });
    add({ type: 'usage', inputTokens: 10, outputTokens: 5, turn: 1, model: 'm' });
    if (step % 200 === 199) add({ type: 'turnComplete', outcome: 'done' });
  }
  return log.slice(0, count);
}
