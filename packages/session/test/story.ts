// oxlint-disable vitest/no-standalone-expect -- a story is only ever told inside a test
import {
  Ack,
  AgentEvent,
  type Budget,
  type LifecycleVerb,
  type MessagePriority,
  type PublicEvent,
  RunnerCommand,
  SessionEvent,
  type SessionKind,
  SessionRecord,
  type SessionStatus,
  type SuspendEvent,
} from '@concerto/protocol';
import { expect } from 'vitest';
import { flyingEntry } from '../src/queue/queue.ts';
import { nextDeadline } from '../src/session/deadlines.ts';
import { decide } from '../src/session/decide.ts';
import { fold } from '../src/session/evolve.ts';
import type {
  Asked,
  Decision,
  Notice,
  Refusal,
  Report,
  SessionCommand,
  StartCommand,
  Wish,
} from '../src/session/session-command.ts';
import type { SessionState } from '../src/session/session-state.ts';
import { statusOf } from '../src/session/status.ts';

type Distribute<T, Keys extends PropertyKey> = T extends unknown ? Omit<T, Keys> : never;
export type ReportBody = Distribute<Report, 'epoch' | 'incarnation'> & { epoch?: number; incarnation?: number };

export type StoryOptions = {
  readonly kind?: SessionKind;
  readonly once?: boolean;
  readonly capabilities?: readonly string[];
  readonly slot?: 'held' | 'wanted';
  readonly prompt?: string;
  readonly budget?: Budget;
};

export const everything = ['steer', 'interrupt', 'pause', 'cancel', 'resume'];
export const failure = { code: 'agent_exited', message: 'the agent exited with code 1' };

/** One session and its log in memory: every decision is stored as JSON, read back, checked against its schema and folded again. */
export class Story {
  now = 1_000_000;
  readonly records: SessionRecord[] = [];
  readonly commands: RunnerCommand[] = [];
  readonly events: PublicEvent[] = [];
  readonly acks: Ack[] = [];
  last: Decision | undefined;
  /** Whether the owner lives and comes when it is called. */
  attentive = true;
  /** Whether the pool has room and says so at once. */
  roomy = true;

  get state(): SessionState {
    const state = fold(this.records);
    if (state === undefined) throw new Error('no session yet');
    return state;
  }

  get status(): SessionStatus {
    return statusOf(this.state);
  }

  ask(command: (Wish | Notice | Report) & Pick<Asked, 'cause' | 'openCalls'>, actor = 'user'): Refusal | undefined {
    const before = fold(this.records);
    const decided = decide(before, { at: this.now, actor, ...command } as SessionCommand);
    if (!decided.ok) return decided.error;
    const { records, commands, events, acks, state } = decided.value;
    this.last = decided.value;
    this.records.push(...records.map((record) => SessionRecord.parse(JSON.parse(JSON.stringify(record)))));
    this.commands.push(...commands.map((one) => RunnerCommand.parse(JSON.parse(JSON.stringify(one)))));
    this.acks.push(...acks.map((ack) => Ack.parse(ack)));
    this.events.push(...events.map((event) => JSON.parse(JSON.stringify(parseEvent(event))) as PublicEvent));
    expect(fold(this.records)).toEqual(state);
    if (this.roomy && records.some((one) => one.type === 'slot-wanted')) this.wish({ type: 'admit' });
    if (this.attentive && commands.some((one) => one.type === 'attend')) this.attend();
    return undefined;
  }

  /** A wish that must be granted. */
  wish(wish: (Wish | Notice) & Pick<Asked, 'attending' | 'cause'>): this {
    expect(this.ask(wish)).toBeUndefined();
    return this;
  }

  /** A wish that must be refused, leaving nothing behind. */
  refusal(wish: Wish): Refusal {
    const before = this.records.length;
    const refusal = this.ask(wish);
    expect(refusal).toBeDefined();
    expect(this.records).toHaveLength(before);
    return refusal as Refusal;
  }

  /** A report of the current owner and its current process, unless told otherwise. */
  report(report: ReportBody): this {
    const { epoch, incarnations } = this.state;
    const ofOwner = ['claimed', 'released', 'usage', 'child-opened', 'child-used', 'request-routing'].includes(
      report.type,
    );
    const spoke = ofOwner ? {} : { incarnation: Math.max(1, incarnations) };
    const filled = { epoch, ...spoke, ...report } as Report;
    expect(this.ask(filled, 'runner:r1')).toBeUndefined();
    return this;
  }

  attend(epoch = this.state.epoch): this {
    expect(this.ask({ type: 'attend', epoch }, 'runner:r1')).toBeUndefined();
    return this;
  }

  start(options: StoryOptions = {}): this {
    const { kind = 'agent', once = false, slot = 'held', prompt = 'first', budget } = options;
    const start: StartCommand = {
      type: 'start',
      sessionId: 's1',
      kind,
      agent: 'demo',
      title: 'A task',
      once,
      slot,
      budget,
      prompt: { messageId: 'first', content: prompt },
    };
    return this.wish(start);
  }

  claim(epoch = 1, runner = 'r1'): this {
    return this.report({ type: 'claimed', epoch, runner });
  }

  ready(capabilities: readonly string[] = []): this {
    return this.report({ type: 'agent-ready', capabilities });
  }

  /** Confirms whatever is in flight. */
  delivered(): this {
    const dispatch = this.inFlight();
    return this.report({ type: 'delivered', dispatchId: dispatch.dispatchId, how: dispatch.how });
  }

  inFlight() {
    const dispatch = flyingEntry(this.state.queue)?.dispatch;
    if (dispatch === undefined) throw new Error('nothing is in flight');
    return dispatch;
  }

  result(text = 'done'): this {
    return this.report({
      closing: [{ type: 'content', content: { parts: [{ text }] } }],
      late: [{ type: 'thought', text }],
      type: 'turn-ended',
      outcome: 'result',
      value: { text },
      result: { success: true, href: '/', outcomes: { parts: [{ text }] } },
    });
  }

  error(message = 'no luck'): this {
    return this.report({ type: 'turn-ended', outcome: 'error', error: { code: 'agent_error', message } });
  }

  question(requestId = 'q1', type: 'input' | 'approval' = 'input'): this {
    return this.report({ type: 'request-opened', requestId, event: suspend(requestId, type) });
  }

  answer(requestId = 'q1'): this {
    return this.wish({ type: 'answer', requestId, response: 'yes' });
  }

  send(messageId: string, priority: MessagePriority = 'queued', content = `text of ${messageId}`): this {
    return this.wish({ type: 'enqueue', messageId, content, priority, source: 'user' });
  }

  control(kind: LifecycleVerb, requestId = `${kind}-1`): this {
    return this.wish({ type: 'control', kind, requestId });
  }

  ack(requestId: string): this {
    return this.report({ type: 'control-acked', requestId });
  }

  exit(): this {
    return this.report({ type: 'process-exited', error: failure });
  }

  /** Lets time pass, sending `expire` exactly when it is due, as an owner does. */
  pass(ms: number): this {
    const until = this.now + ms;
    for (;;) {
      const due = nextDeadline(this.state);
      if (due === undefined || due > until) break;
      this.now = Math.max(this.now, due);
      this.wish({ type: 'expire' });
    }
    this.now = until;
    return this;
  }

  tick(ms = 1): this {
    this.now += ms;
    return this;
  }

  /** A running first turn. */
  running(options: StoryOptions = {}): this {
    return this.start(options)
      .claim()
      .ready(options.capabilities ?? everything)
      .delivered();
  }

  idle(options: StoryOptions = {}): this {
    return this.running(options).result();
  }

  deliveries(): readonly string[] {
    return this.commands.flatMap((one) => (one.type === 'deliver' ? one.messageId : []));
  }

  statuses(): readonly SessionStatus[] {
    return this.events.flatMap((event) => (event.type === 'status' ? event.status : []));
  }

  commandTypes(): readonly string[] {
    return this.commands.map((one) => one.type);
  }

  recordTypes(): readonly string[] {
    return this.records.map((one) => one.type);
  }

  eventTypes(): readonly string[] {
    return this.events.map((event) => event.type);
  }
}

function parseEvent(event: PublicEvent): PublicEvent {
  const session = SessionEvent.safeParse(event);
  return session.success ? session.data : AgentEvent.parse(event);
}

export function suspend(requestId: string, type: 'input' | 'approval' = 'input'): SuspendEvent {
  if (type === 'input')
    return { type: 'waitForInput', requestId, prompt: { parts: [{ text: 'Why?' }] }, inputType: 'text' };
  return {
    type: 'queryConsent',
    requestId,
    consentType: 'approval',
    scope: { description: 'Delete it' },
    graphUrl: '',
  };
}

/** A session in each status, as it commonly gets there. */
export function storyIn(status: SessionStatus, options: StoryOptions = {}): Story {
  const story = new Story();
  const running = () => story.running(options);
  switch (status) {
    case 'queued':
      return story.start({ ...options, slot: 'wanted' });
    case 'starting':
      return story.start(options).claim();
    case 'running':
      return running();
    case 'interrupting':
      return running().control('interrupt', 'r0');
    case 'interrupted':
      return running().control('interrupt', 'r0').ack('r0');
    case 'pausing':
      return running().control('pause', 'r0');
    case 'paused':
      return running().control('pause', 'r0').ack('r0');
    case 'resuming':
      return running().control('pause', 'p0').ack('p0').control('resume', 'r0');
    case 'cancelling':
      return running().control('cancel', 'r0');
    case 'cancelled':
      return running().control('cancel', 'r0').ack('r0');
    case 'waitingForInput':
      return running().question('q0', 'input');
    case 'waitingForApproval':
      return running().question('q0', 'approval');
    case 'idle':
      return story.idle(options);
    case 'completed':
      return story.idle({ ...options, once: true });
    case 'failed':
      return story.running({ ...options, once: true }).error();
  }
}
