import type { FollowedEvent } from '@concerto/client';
import { type PublicEvent, type Session, SessionFold, textContent } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { TimelineItems } from '../timeline/timeline-items.ts';
import { readEarlier } from './read-earlier.ts';

const at = '2026-01-01T00:00:00.000Z';

/** Three long turns; a call that begins in one part of the log and ends in another. */
function log(): readonly FollowedEvent[] {
  const events: PublicEvent[] = [];
  for (let turn = 1; turn <= 3; turn++) {
    events.push({ type: 'start', objective: textContent(`prompt ${turn}`, 'user') });
    for (let n = 0; n < 900; n++) {
      const callId = `c${turn}-${n}`;
      events.push({ type: 'functionCall', callId, name: 'read', args: {}, messageId: `m${turn}-${n}` });
      events.push({ type: 'functionResult', callId, content: textContent('ok'), outcome: 'ok' });
    }
    events.push({ type: 'turnComplete', outcome: 'done' });
  }
  return events.map((event, index) => ({ ...event, at, seq: index + 1 }));
}

const session: Session = {
  id: 's',
  title: 's',
  kind: 'agent',
  agent: 'a',
  status: 'idle',
  turn: 3,
  createdAt: at,
  updatedAt: at,
  pending: 0,
  usage: { inputTokens: 0, outputTokens: 0 },
  position: 0,
};

test('what was let go and is read again stands as if it had never gone', async () => {
  const events = log();
  const client = {
    get: async () => ({ ...session, position: events.length }),
    follow: async function* follow(_id: string, { after = 0 }: { after?: number } = {}) {
      yield* events.slice(after);
    },
  };
  const fold = new SessionFold().takeAll(events);
  const whole = new TimelineItems().of(fold.view.turns);
  fold.forget(700);
  const { turns, forgottenTo } = fold.view;
  let before: typeof turns = [];
  for (let to = forgottenTo; to > 0; ) {
    const part = await readEarlier(client, 's', { to, next: before[0] ?? turns[0] });
    before = [...part.turns, ...before];
    to = part.from;
  }
  const shown = new TimelineItems().of([...before, ...turns]);
  expect(shown.map(({ kind, key }) => [kind, key])).toEqual(whole.map(({ kind, key }) => [kind, key]));
  expect(shown.flatMap((item) => (item.kind === 'prompt' ? [item.number] : []))).toEqual([1, 2, 3]);
});
