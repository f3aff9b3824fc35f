import { memoryEventLog } from '@concerto/log';
import { type AgentEvent, encodeEvent, type PublicEvent, textContent } from '@concerto/protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Said } from './assistant-history.ts';
import { recallConversation } from './assistant-recall.ts';
import { failureEvents, resultEvent, resultText } from './assistant-result.ts';

async function recalled(events: readonly PublicEvent[]): Promise<readonly (readonly Said[])[]> {
  const log = memoryEventLog({ now: () => 0 });
  const entries = events.map((event) => ({ type: event.type, data: encodeEvent(event, '2026-01-01T00:00:00.000Z') }));
  await log.append({ session: 's', streams: [{ stream: 'events', entries }] });
  return await recallConversation(log, 's');
}

const begin = (text: string, turn = 1): AgentEvent[] => [
  { type: 'start', objective: textContent(text, 'user') },
  { type: 'functionCall', callId: `turn-${turn}`, name: 'helper', args: { prompt: text } },
];
const say = (text: string): AgentEvent => ({ type: 'content', content: textContent(text) });
const call = (id: string): AgentEvent => ({ type: 'functionCall', callId: id, name: 'look', args: { at: id } });
const end = (text: string, turn = 1): AgentEvent[] => [
  { type: 'subagentFinish', callId: `turn-${turn}` },
  {
    type: 'functionResult',
    callId: `turn-${turn}`,
    content: { parts: [{ functionResponse: { name: 'helper', response: { text } } }] },
  },
  say(text),
  { type: 'turnComplete' },
];
const steered = (id: string, content: string, inFlight = false): PublicEvent => ({
  type: 'message',
  version: 1,
  message: {
    id,
    content,
    priority: 'immediate',
    status: inFlight ? 'pending' : 'delivered',
    source: 'user',
    createdAt: '2026-01-01T00:00:00.000Z',
    how: 'steer',
  },
});

test('nothing was said yet', async () => {
  expect(await recalled([{ type: 'status', status: 'queued' }])).toEqual([]);
});

test('a result repeats what was said and is not said again', async () => {
  expect(await recalled([...begin('Hi'), say('Hel'), say('lo'), ...end('Hello'), ...begin('And?', 2)])).toEqual([
    [
      { kind: 'user', text: 'Hi' },
      { kind: 'model', text: 'Hello', thought: '', calls: [] },
    ],
    [{ kind: 'user', text: 'And?' }],
  ]);
});

test('what was said into the turn was heard after the calls of its step', async () => {
  const looked = resultEvent('c1', { id: 'c1', name: 'look', args: {} }, 'a tree');
  const events = [...begin('Look'), call('c1'), steered('m', 'Up!', true), steered('m', 'Up!'), looked, say('A tree.')];
  expect((await recalled(events))[0]?.map(({ kind }) => kind)).toEqual(['user', 'model', 'results', 'user', 'model']);
});

test('a call that was under way when everything ended is lost, and known to be', async () => {
  const [turn] = await recalled([...begin('Look'), call('c1')]);
  expect(turn?.at(-1)).toEqual({
    kind: 'results',
    results: [{ id: 'c1', name: 'look', text: 'lost: it may or may not have been done', failed: true }],
  });
});

test('a log whose beginning is gone begins with its first whole turn', async () => {
  const looked = resultEvent('c1', { id: 'c1', name: 'look', args: {} }, {});
  expect(await recalled([say('…the end.'), call('c1'), looked, ...begin('Next')])).toEqual([
    [{ kind: 'user', text: 'Next' }],
  ]);
});

type Step = {
  readonly thought: string;
  readonly text: string;
  readonly outcomes: readonly (string | { readonly error: string })[];
};

const outcome = fc.oneof(fc.string(), fc.record({ error: fc.string({ minLength: 1 }) }));
const callingStep: fc.Arbitrary<Step> = fc.record({
  thought: fc.constantFrom('', 'Hm.'),
  text: fc.string(),
  outcomes: fc.array(outcome, { minLength: 1, maxLength: 3 }),
});

test('whatever was called and however it ended, each call is followed by its result, in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(callingStep, { maxLength: 5 }), async (steps) => {
      let calls = 0;
      const events: AgentEvent[] = begin('Go');
      const expected: string[] = [];
      for (const { thought, text, outcomes } of steps) {
        if (thought !== '') events.push({ type: 'thought', text: thought });
        if (text !== '') events.push(say(text));
        expected.push(text);
        for (const given of outcomes) {
          calls += 1;
          const made = { id: `c${calls}`, name: 'look', args: {} };
          events.push(call(made.id));
          if (typeof given === 'string') events.push(resultEvent(made.id, made, given));
          else events.push(...failureEvents(made.id, made, given.error));
          expected.push(typeof given === 'string' ? resultText(given) : `failed: ${given.error}`);
        }
      }
      const [turn = []] = await recalled([...events, ...end('Done')]);
      const heard = turn.slice(1).flatMap((said) => {
        if (said.kind === 'model') return said.text === '' ? [] : [said.text];
        return said.kind === 'results'
          ? said.results.map(({ text, failed }) => (failed ? `failed: ${text}` : text))
          : [];
      });
      const spoken = (texts: readonly string[]) => texts.filter((text) => text !== '');
      expect(spoken(heard)).toEqual(spoken(expected));
      for (const [index, said] of turn.entries()) {
        if (said.kind !== 'model' || said.calls.length === 0) continue;
        const next = turn[index + 1];
        expect(next?.kind === 'results' && next.results.map(({ id }) => id)).toEqual(said.calls.map(({ id }) => id));
      }
    }),
    { numRuns: 50 },
  );
});
