import type { PublicEvent } from '@concerto/protocol';
import { describe, expect, test } from 'vitest';
import { everything, Story } from '../../test/story.ts';

const about: ReadonlySet<string> = new Set(['start', 'functionCall', 'functionResult', 'turnComplete']);
const openCalls = [{ callId: 'c1', name: 'Bash' }];

function shown(story: Story): PublicEvent[] {
  return story.events.filter(({ type }) => about.has(type));
}

describe('what is shown of a turn', () => {
  test('it begins when the agent has the prompt, and ends once', () => {
    const story = new Story().start().claim().ready();
    expect(shown(story)).toEqual([]);
    story.delivered();
    expect(shown(story)).toMatchObject([
      { type: 'start', objective: { role: 'user', parts: [{ text: 'first' }] } },
      { type: 'functionCall', callId: 'turn-1', name: 'demo', args: { prompt: 'first' }, isTurn: true },
    ]);
    story.result();
    expect(shown(story).slice(2)).toEqual([{ type: 'turnComplete', outcome: 'done' }]);
  });

  test('an agent that answers before its prompt is confirmed: begun, said, ended, in this order', () => {
    const story = new Story().start().claim().ready().result();
    const types = story.eventTypes().filter((type) => about.has(type) || type === 'content');
    expect(types).toEqual(['start', 'functionCall', 'content', 'turnComplete']);
  });

  test('a prompt that was never confirmed opened nothing, and nothing is closed', () => {
    expect(shown(new Story().start().claim().ready().exit())).toEqual([]);
  });

  test('an agent that begins by itself: a turn without an objective', () => {
    const story = new Story().running().result().question('q1').answer('q1').result();
    expect(shown(story).slice(3)).toMatchObject([
      { type: 'start', objective: { parts: [] } },
      { type: 'functionCall', callId: 'turn-2', isTurn: true },
      { type: 'turnComplete', outcome: 'done' },
    ]);
  });

  test.each<[string, (story: Story) => Story, object]>([
    ['its error', (story) => story.error('no luck'), { outcome: 'failed', reason: 'no luck' }],
    ['its exit', (story) => story.exit(), { outcome: 'lost' }],
    ['a new owner', (story) => story.claim(2), { outcome: 'lost' }],
    ['an interrupt', (story) => story.control('interrupt', 'c').ack('c'), { outcome: 'interrupted' }],
    ['a cancel', (story) => story.control('cancel', 'c').ack('c'), { outcome: 'cancelled' }],
    ['a cancel by its exit', (story) => story.control('cancel', 'c').exit(), { outcome: 'cancelled' }],
    ['a cancel by force', (story) => story.control('cancel', 'c').pass(60_000), { outcome: 'cancelled' }],
  ])('ended by %s: one result for its call, and how it ended', (_name, end, expected) => {
    const story = end(new Story().running({ capabilities: everything }));
    const closing = shown(story).slice(2);
    expect(closing).toMatchObject([
      { type: 'functionResult', callId: 'turn-1' },
      { type: 'turnComplete', ...expected },
    ]);
  });

  test.each(['cancel', 'interrupt'] as const)(
    '2.15 a result in a turn that somebody asked to %s is kept, once, and the turn ended as it was asked',
    (verb) => {
      const story = new Story().running().question('q1').control(verb, 'c');
      const before = story.events.length;
      const response = { functionResponse: { name: 'demo', response: { text: 'then without' } } };
      story.report({
        type: 'turn-ended',
        outcome: 'result',
        value: { text: 'then without' },
        result: { success: true, href: '/' },
        closing: [
          { type: 'functionResult', callId: 'turn-1', content: { role: 'user', parts: [response] }, outcome: 'ok' },
          { type: 'content', content: { parts: [{ text: 'then without' }] } },
        ],
      });
      const outcome = verb === 'cancel' ? 'cancelled' : 'interrupted';
      expect(story.events.slice(before)).toMatchObject([
        { type: 'functionResult', callId: 'turn-1', content: { parts: [response] }, outcome: 'cancelled' },
        { type: 'content', content: { parts: [{ text: 'then without' }] } },
        { type: 'turnComplete', outcome },
      ]);
      expect(story.records.at(-1)).toMatchObject({ type: 'turn-ended', outcome, value: { text: 'then without' } });
      expect(story.ack('c').status).toBe(outcome);
      expect(shown(story).slice(-1)).toEqual([{ type: 'turnComplete', outcome }]);
    },
  );

  test.each(['cancel', 'interrupt'] as const)(
    '2.15 an error of the agent that was asked to %s is no failure',
    (verb) => {
      const story = new Story().running().control(verb, 'c').error('aborted');
      const outcome = verb === 'cancel' ? 'cancelled' : 'interrupted';
      expect(shown(story).slice(2)).toMatchObject([
        { type: 'functionResult', callId: 'turn-1', outcome: 'cancelled' },
        { type: 'turnComplete', outcome },
      ]);
      expect(story.state.error).toBeUndefined();
      expect(story.ack('c').status).toBe(outcome);
    },
  );

  test('2.15 a once session is interrupted like any other, and takes the next message', () => {
    const story = new Story().running({ once: true }).question('q1').control('interrupt', 'c').result().ack('c');
    expect(story.status).toBe('interrupted');
    expect(story.send('again').delivered().result().status).toBe('completed');
  });

  test('calls that still run are closed with the turn, before it', () => {
    const story = new Story().running({ capabilities: everything });
    const before = story.events.length;
    const lost = { epoch: 1, incarnation: 1, type: 'process-exited', error: { code: 'x', message: 'gone' } } as const;
    story.ask({ ...lost, openCalls }, 'runner:r1');
    expect(shown(story).slice(before === 0 ? 0 : 2)).toMatchObject([
      { type: 'functionResult', callId: 'c1', outcome: 'failed' },
      { type: 'functionResult', callId: 'turn-1', outcome: 'failed' },
      { type: 'turnComplete', outcome: 'lost', reason: 'gone' },
    ]);
  });

  test.each([{ type: 'expire' }, { type: 'make-room', for: 's2' }] as const)(
    'what a quiet agent began after its turn is closed when it is ended: $type',
    (asked) => {
      const story = new Story().idle();
      const before = shown(story).length;
      story.now += 10 * 60_000;
      story.ask({ ...asked, openCalls });
      expect(story.records.at(-1)?.type).toBe('parked');
      expect(shown(story).slice(before)).toMatchObject([{ type: 'functionResult', callId: 'c1', outcome: 'failed' }]);
    },
  );

  test('a program goes on with the next owner: the calls that still run stay open', () => {
    const story = new Story().start({ kind: 'program' }).claim().ready().delivered();
    const before = shown(story).length;
    story.ask({ type: 'claimed', epoch: 2, runner: 'r2', openCalls }, 'runner:r2');
    expect(story.records.map(({ type }) => type)).toContain('process-lost');
    expect(shown(story).slice(before)).toEqual([]);
  });
});
