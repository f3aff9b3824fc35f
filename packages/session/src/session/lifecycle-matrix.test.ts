import { SessionStatus } from '@concerto/protocol';
import { describe, expect, test } from 'vitest';
import { failure, type ReportBody, Story, storyIn, suspend } from '../../test/story.ts';
import type { Wish } from './session-command.ts';

const wishes = {
  interrupt: { type: 'control', kind: 'interrupt', requestId: 'n' },
  pause: { type: 'control', kind: 'pause', requestId: 'n' },
  resume: { type: 'control', kind: 'resume', requestId: 'n' },
  cancel: { type: 'control', kind: 'cancel', requestId: 'n' },
  immediate: { type: 'enqueue', messageId: 'n', content: 'now', priority: 'immediate', source: 'user' },
  queued: { type: 'enqueue', messageId: 'n', content: 'later', priority: 'queued', source: 'user' },
  answer: { type: 'answer', requestId: 'q0', response: true },
} as const satisfies Record<string, Wish>;
type WishName = keyof typeof wishes;

const wrong = 'wrong_status';
const busy = 'lifecycle_request_in_progress';
const closed = 'session_closed';
const none = 'no_such_request';

/** What each wish comes to in each status: the status after it, or the code of its refusal. `=` keeps the status. */
const expected: Record<SessionStatus, readonly string[]> = {
  //                   interrupt       pause      resume     cancel        immediate  queued     answer
  queued: [wrong, wrong, wrong, 'cancelled', '=', '=', none],
  starting: [wrong, wrong, wrong, 'cancelling', '=', '=', none],
  running: ['interrupting', 'pausing', wrong, 'cancelling', '=', '=', none],
  interrupting: [busy, busy, busy, 'cancelling', '=', '=', none],
  interrupted: [wrong, 'paused', 'idle', 'cancelling', 'running', 'running', none],
  pausing: [busy, busy, busy, 'cancelling', '=', '=', none],
  paused: [wrong, wrong, 'resuming', 'cancelling', '=', '=', none],
  resuming: [busy, busy, busy, 'cancelling', '=', '=', none],
  cancelling: [busy, busy, busy, busy, closed, closed, none],
  cancelled: [wrong, wrong, wrong, wrong, closed, closed, none],
  waitingForInput: ['interrupting', 'pausing', wrong, 'cancelling', '=', '=', 'running'],
  waitingForApproval: ['interrupting', 'pausing', wrong, 'cancelling', '=', '=', 'running'],
  idle: [wrong, 'paused', wrong, 'cancelling', 'running', 'running', none],
  completed: [wrong, wrong, wrong, wrong, closed, closed, none],
  failed: [wrong, wrong, wrong, wrong, closed, closed, none],
};

const columns: readonly WishName[] = ['interrupt', 'pause', 'resume', 'cancel', 'immediate', 'queued', 'answer'];
const wishCells = SessionStatus.options.flatMap((status) =>
  columns.map((name, index) => [status, name, expected[status][index] ?? ''] as const),
);

describe('what the user may ask, by status', () => {
  test.each(wishCells)('2.1 %s: %s → %s', (status, name, outcome) => {
    const story = storyIn(status);
    expect(story.status).toBe(status);
    const isStatus = outcome === '=' || SessionStatus.options.some((option) => option === outcome);
    const refused = isStatus ? story.ask(wishes[name]) : story.refusal(wishes[name]);
    expect(refused?.code).toBe(isStatus ? undefined : outcome);
    expect(story.status).toBe(isStatus && outcome !== '=' ? outcome : status);
  });

  test('2.8 an answer while interrupting is too late: the question is withdrawn', () => {
    const story = new Story().running().question('q0').control('interrupt');
    expect(story.refusal(wishes.answer).code).toBe('withdrawn');
  });

  test.each(['pausing', 'resuming'] as const)('2.8 an answer while %s is kept', (status) => {
    const story = new Story().running().question('q0');
    story.control('pause', 'p');
    if (status === 'resuming') story.ack('p').control('resume', 'r');
    expect(story.status).toBe(status);
    const sent = story.commandTypes().filter((type) => type === 'answer');
    story.wish(wishes.answer);
    expect(story.status).toBe(status);
    expect(story.commandTypes().filter((type) => type === 'answer')).toEqual(sent);
  });
});

const reports = {
  ready: { type: 'agent-ready', capabilities: ['steer'] },
  turnStarted: { type: 'turn-started' },
  turnEnded: { type: 'turn-ended', outcome: 'result', value: {}, result: { success: true, href: '' } },
  ownAck: { type: 'control-acked', requestId: 'r0' },
  otherAck: { type: 'control-acked', requestId: 'other' },
  question: { type: 'request-opened', requestId: 'q9', event: suspend('q9') },
  exit: { type: 'process-exited', error: failure },
} as const satisfies Record<string, ReportBody>;
type ReportName = keyof typeof reports;
const reportColumns: readonly ReportName[] = [
  'ready',
  'turnStarted',
  'turnEnded',
  'ownAck',
  'otherAck',
  'question',
  'exit',
];

const late = 'ignored';
/** The status after each report; `ignored`: recorded as ignored, status kept; `=`: taken, status kept. */
const expectedAfter: Record<SessionStatus, readonly string[]> = {
  // ready, turn started, turn ended, own ack, other ack, question, process lost
  queued: [late, late, late, late, late, late, late],
  starting: ['running', late, late, late, late, late, 'interrupted'],
  running: ['=', late, 'idle', late, late, 'waitingForInput', 'interrupted'],
  interrupting: ['=', late, '=', 'interrupted', late, '=', 'interrupted'],
  interrupted: ['=', 'running', late, late, late, '=', '='],
  pausing: ['=', late, '=', 'paused', late, '=', 'paused'],
  paused: ['=', late, '=', late, late, '=', '='],
  resuming: ['=', late, '=', 'running', late, '=', 'interrupted'],
  cancelling: ['=', late, '=', 'cancelled', late, late, 'cancelled'],
  cancelled: [late, late, late, late, late, late, late],
  waitingForInput: ['=', late, 'idle', late, late, '=', 'interrupted'],
  waitingForApproval: ['=', late, 'idle', late, late, '=', 'interrupted'],
  idle: ['=', 'running', late, late, late, 'waitingForInput', '='],
  completed: [late, late, late, late, late, late, late],
  failed: [late, late, late, late, late, late, late],
};

const reportCells = SessionStatus.options.flatMap((status) =>
  reportColumns.map((name, index) => [status, name, expectedAfter[status][index] ?? ''] as const),
);

describe('what the agent reports, by status', () => {
  test.each(reportCells)('6.1 %s: %s → %s', (status, name, outcome) => {
    const story = storyIn(status);
    const before = story.records.length;
    story.report(reports[name]);
    expect(story.records.length).toBeGreaterThan(before);
    const ignored = story.records.slice(before).some((record) => record.type === 'report-ignored');
    expect(ignored).toBe(outcome === late);
    expect(story.status).toBe(outcome === late || outcome === '=' ? status : outcome);
  });

  test.each(SessionStatus.options)('6.2 %s: usage is counted, also after the end', (status) => {
    const story = storyIn(status);
    story.report({ type: 'usage', usage: { inputTokens: 3, outputTokens: 4, costMicroUsd: 5 } });
    story.report({ type: 'usage', usage: { inputTokens: 1, outputTokens: 1 }, epoch: 0 });
    expect(story.state.usage).toEqual({ inputTokens: 4, outputTokens: 5, costMicroUsd: 5 });
    expect(story.status).toBe(status);
  });
});
