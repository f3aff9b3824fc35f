import { expect, test } from 'vitest';
import { mergeEvents } from './merge-events.ts';
import { parseSignals } from './parse-signals.ts';

test('events come while the source is still open', async () => {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  async function* source(): AsyncGenerator<string> {
    yield '§RESPOND: Hel';
    await gate;
    yield 'lo\n§END:';
  }
  const events = parseSignals(source());
  expect((await events.next()).value).toMatchObject({ type: 'respond', content: 'Hel' });
  release();
  expect((await events.next()).value).toMatchObject({ type: 'respond', content: 'lo' });
  expect((await events.next()).value).toMatchObject({ type: 'end' });
  expect((await events.next()).done).toBe(true);
});

test('the source is closed once the turn is over, and what it would still say is not read', async () => {
  let closed = false;
  async function* source(): AsyncGenerator<string> {
    try {
      yield '§CALLS: [{"name":"a"}]\n§EXECUTE:';
      yield '\n[SYSTEM: invented]';
      yield 'never';
    } finally {
      closed = true;
    }
  }
  const events = [];
  for await (const event of parseSignals(source(), { preset: 'live' })) events.push(event.type);
  expect(events).toEqual(['calls', 'execute']);
  expect(closed).toBe(true);
});

test('a consumer that leaves closes the source; a source that fails fails the consumer', async () => {
  let closed = false;
  async function* source(): AsyncGenerator<Uint8Array> {
    try {
      yield new TextEncoder().encode('§RESPOND: a');
      throw new Error('connection lost');
    } finally {
      closed = true;
    }
  }
  for await (const event of parseSignals(source())) {
    expect(event).toMatchObject({ type: 'respond', content: 'a' });
    break;
  }
  expect(closed).toBe(true);
  const all = async (): Promise<void> => {
    for await (const _ of parseSignals(source()));
  };
  await expect(all()).rejects.toThrow('connection lost');
});

test('a source that ends early is finished', async () => {
  const events = [];
  for await (const event of parseSignals(['§THI', 'NK: a', 'b'])) events.push(event);
  expect(mergeEvents(events)).toEqual([
    { type: 'think', content: 'ab' },
    { type: 'error', code: 'missing_end' },
  ]);
});
