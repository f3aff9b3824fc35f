import type { FoldedEvent } from '@concerto/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BetaFold, betaAnswer, StartBeta, segmentsContent } from '../src/index.ts';
import { recordedLogs } from './recorded-logs.ts';

const at = '2026-01-01T00:00:00.000Z';

function told(events: readonly FoldedEvent[], fold = new BetaFold()) {
  return events.flatMap((event) => fold.take(event).map((said) => ({ ...said, text: fold.sent(said) })));
}

describe('the sessions wire of seed 001’s project', () => {
  test.each(recordedLogs)('numbers without a gap what it says of $name, from wherever it is read', ({ events }) => {
    const all = told(events);
    expect(all.map(({ index }) => index)).toEqual(all.map((_, index) => index));
    expect(all.every(({ text }) => Object.keys(JSON.parse(text)).length === 1)).toBe(true);
    const cuts = fc.integer({ min: 0, max: events.length });
    const inTwo = fc.property(cuts, (cut) => {
      const fold = new BetaFold();
      expect([...told(events.slice(0, cut), fold), ...told(events.slice(cut), fold)]).toEqual(all);
    });
    fc.assert(inTwo, { numRuns: 20 });
  });

  test('what ends it for its clients is the last thing said', () => {
    const events: FoldedEvent[] = [
      { type: 'complete', result: { success: true, href: '/' }, at, seq: 1 },
      { type: 'finish', at, seq: 2 },
    ];
    expect(told(events).map(({ text }) => Object.keys(JSON.parse(text))[0])).toEqual(['finish', 'complete']);
  });

  test('a request has its `interactionId`; one that was settled keeps only its number', () => {
    const prompt = { role: 'model', parts: [] };
    const asked = { type: 'waitForInput', requestId: 'r1', prompt, inputType: 'text', at, seq: 1 } as const;
    const fold = new BetaFold();
    const [event] = fold.take(asked);
    const now = (): unknown => JSON.parse(event === undefined ? '' : fold.sent(event));
    expect(now()).toMatchObject({ waitForInput: { requestId: 'r1', interactionId: 'r1' } });
    fold.settle({ type: 'requestSettled', requestId: 'r1', outcome: 'answered', by: 'user', at, seq: 2 });
    expect(now()).toEqual({ requestSettled: { requestId: 'r1' } });
  });

  test('segments of both shapes are one prompt', () => {
    const content = { role: 'user', parts: [{ text: 'b' }] } as const;
    const start = StartBeta.parse({
      segments: [{ type: 'text', text: 'a' }, { asset: { title: 't', content } }, { text: { text: 'c' } }],
      accessToken: 'secret',
    });
    expect(segmentsContent(start)).toEqual({ role: 'user', parts: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] });
    expect(StartBeta.safeParse({ segments: [] }).success).toBe(false);
    expect(StartBeta.safeParse({ segments: [{ tool: { path: 'x' } }] }).success).toBe(false);
  });

  test.each([
    [{ consent: false }, false],
    [{ selected: { ids: ['a', 'b'] } }, { selected: ['a', 'b'] }],
    [{ input: { role: 'user', parts: [{ text: 'x' }] } }, { input: { role: 'user', parts: [{ text: 'x' }] } }],
    [{ graph: { nodes: [] }, accessToken: 'secret', interactionId: 'r1' }, { graph: { nodes: [] } }],
  ])('the flat answer %j is %j', (body, answer) => {
    expect(betaAnswer(body)).toEqual(answer);
  });
});
