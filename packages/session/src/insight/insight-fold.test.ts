import { Insight } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { failure, Story } from '../../test/story.ts';
import { InsightFold, insightRecords } from './insight-fold.ts';

const day = 86_400_000;
const subject = { id: 's_1', agent: 'coder', kind: 'agent' } as const;
const used = (costMicroUsd: number, model?: string) => ({
  type: 'usage' as const,
  usage: { inputTokens: 10, outputTokens: 5, costMicroUsd },
  ...(model === undefined ? {} : { source: { model } }),
});

function insightOf(story: Story, span: { days?: number; offsetMinutes?: number } = {}): Insight {
  const fold = new InsightFold({ now: story.now, days: 3, offsetMinutes: 0, ...span });
  fold.take(
    subject,
    story.records.filter(({ type }) => insightRecords.has(type)),
  );
  return Insight.parse(fold.result(false));
}

test('each day has what was used and done on it, also days without anything', () => {
  const story = new Story().running();
  story.report(used(200, 'big'));
  story.tick(2 * day).report(used(30, 'small'));
  const { days, agents, models } = insightOf(story);
  expect(days.map(({ day: at, usage, sessions, turns }) => [at, usage.costMicroUsd ?? 0, sessions, turns])).toEqual([
    ['1970-01-01', 200, 1, 1],
    ['1970-01-02', 0, 0, 0],
    ['1970-01-03', 30, 0, 0],
  ]);
  expect(agents).toMatchObject([{ name: 'coder', usage: { inputTokens: 20, costMicroUsd: 230 } }]);
  expect(models.map(({ name }) => name)).toEqual(['big', 'small']);
});

test('a day is the caller’s, and what is of other days is left out', () => {
  const story = new Story().running();
  story.report(used(200));
  story.tick(2 * day).report(used(30));
  expect(insightOf(story, { offsetMinutes: -60 }).days[0]).toMatchObject({ day: '1969-12-31', sessions: 1 });
  expect(insightOf(story, { offsetMinutes: 14 * 60 }).days[0]).toMatchObject({ day: '1970-01-01', sessions: 1 });
  expect(insightOf(story, { days: 1 })).toMatchObject({
    days: [{ day: '1970-01-03', sessions: 0, usage: { costMicroUsd: 30 } }],
    agents: [{ usage: { costMicroUsd: 30 } }],
  });
});

test('a person is waited for from when they are asked; what others answer takes nobody’s time', () => {
  const story = new Story().running();
  story.question('q1').tick(4_000).answer('q1').report({ type: 'answer-delivered', requestId: 'q1' });
  story.question('q2').tick(10_000).answer('q2');
  const { waits, answeredBy, days } = insightOf(story);
  expect(waits).toEqual({ answers: 2, medianMs: 10_000, longMs: 10_000, longestMs: 10_000 });
  expect(answeredBy).toEqual([{ who: 'person', answers: 2 }]);
  expect(days.at(-1)).toMatchObject({ answers: 2, waitedMs: 14_000 });
});

test('a failed turn that ends its session has failed once, under its code', () => {
  const story = new Story().running({ once: true }).exit();
  const { failures, days } = insightOf(story);
  expect(failures).toMatchObject([
    { code: 'agent_exited', times: 1, last: { session: 's_1', message: failure.message } },
  ]);
  expect(days.at(-1)?.failures).toBe(1);
});

test('a prompt that nobody read and that is tried again fails once, when it is not tried any more', () => {
  const unread = (story: Story): Story =>
    story.report({ type: 'process-exited', error: failure, undelivered: [story.inFlight().dispatchId] });
  const story = unread(new Story().start().claim().ready());
  unread(story.ready());
  unread(story.ready());
  expect(insightOf(story)).toMatchObject({ failures: [{ code: 'agent_exited', times: 1 }] });
  expect(insightOf(story).days.at(-1)).toMatchObject({ turns: 1, failures: 1 });
  // Somebody tries it once more.
  story.control('resume', 'r').ready().delivered().result();
  expect(insightOf(story).days.at(-1)).toMatchObject({ turns: 2, failures: 1 });
});

test('nothing at all is an answer too', () => {
  const empty = new InsightFold({ now: 0, days: 2, offsetMinutes: 0 }).result(true);
  expect(Insight.parse(empty)).toMatchObject({ read: 0, isCut: true, agents: [], failures: [], waits: { answers: 0 } });
  expect(empty.days).toHaveLength(2);
});
