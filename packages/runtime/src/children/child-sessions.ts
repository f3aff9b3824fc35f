import { createHash } from 'node:crypto';
import { type Json, ok } from '@concerto/base';
import type { Entry, EventLog } from '@concerto/log';
import type { AgentEvent, Because, LifecycleVerb } from '@concerto/protocol';
import { messageOf, type SessionCommand, type SessionState, type StartCommand, type Wish } from '@concerto/session';
import type { OwnerWriter } from '../owner/owner-writer.ts';
import type { PoolKeeper } from '../owner/pool-keeper.ts';
import type { Clock } from '../ports.ts';
import { passedOnId } from '../session/passed-on-id.ts';
import { readRecords } from '../session/read-records.ts';
import { ofDomain, refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import type { Executed, SessionStore } from '../session/session-store.ts';
import type { WordAhead } from '../session/words-ahead.ts';

export type ChildPorts = {
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly pool: PoolKeeper;
  readonly clock: Clock;
};

/** The session whose children they are, and the run of it that opens them. */
export type ParentRun = {
  readonly session: string;
  readonly root: string;
  /** Who it is there: `program:ID`, `assistant:ID`. */
  readonly actor: string;
  /** The digest of the code that declares its agents; those of the manifest without. */
  readonly code?: string;
  /** What names the run: the message that it was prompted with. */
  readonly run: string;
  readonly epoch: number;
  readonly writer: OwnerWriter;
  /** How many sessions it may open in its life. */
  readonly childrenMax: number;
};

/** What a child is started as. */
export type ChildStart = Pick<
  StartCommand,
  'kind' | 'agent' | 'title' | 'once' | 'prompt' | 'budget' | 'supervisor' | 'settings'
>;

/** Who asked a session to stop, and how. */
export type StoppedBy = { readonly verb: LifecycleVerb; readonly actor: string };

/**
 * What a program or an assistant asks of the sessions it opens. Each is a wish like a user's, decided by the same domain; ids are made from
 * the run and its own names, so that the same wish after a restart names the same thing.
 */
export class ChildSessions {
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly #ports: ChildPorts;
  readonly #run: ParentRun;
  /** By us: what is being opened side by side is not on record yet. */
  readonly #opened = new Set<string>();

  constructor(ports: ChildPorts, run: ParentRun) {
    this.log = ports.log;
    this.store = ports.store;
    this.#ports = ports;
    this.#run = run;
  }

  /** `prefix_` and 120 bits of what names it within the run. */
  idOf(prefix: string, name: string): string {
    const { session, run } = this.#run;
    const digest = createHash('sha256').update(JSON.stringify([session, run, name]));
    return `${prefix}_${digest.digest('base64url').slice(0, 20)}`;
  }

  /** Opens it, or finds it open. */
  async open(id: string, start: ChildStart): Promise<ServiceRefusal | undefined> {
    const { store, pool } = this.#ports;
    const { session: parent, root, code, writer, epoch, childrenMax } = this.#run;
    if ((await store.state(id)) === undefined) {
      const own = await store.state(parent);
      if (!this.#mayOpen(id, own)) {
        return refusal(
          'too_many_children',
          `${own?.kind ?? 'program'} ${JSON.stringify(own?.agent)} may open ${childrenMax} sessions (the limit \`children\` of a program), and has`,
        );
      }
      this.#opened.add(id);
      // On record first: whoever ends its parent must find it.
      if ((await writer.tell({ type: 'child-opened', epoch, child: id })) === undefined) return gone(parent);
      // A program holds no place of the pool.
      const slot =
        start.kind === 'program'
          ? ok('held' as const)
          : await pool.reserve(id, { ifFull: 'queue', actor: this.actor, tree: root });
      if (!slot.ok) return slot.error;
      const refused = await this.ask(id, {
        type: 'start',
        sessionId: id,
        ...start,
        parent,
        root,
        ...(code === undefined ? {} : { code }),
        slot: slot.value,
      });
      if (refused !== undefined) return refused;
      if (slot.value === 'wanted') await pool.admitIfGranted(id);
    }
    return undefined;
  }

  /** One that is on record already, because an owner was killed as it opened it, is no further one. */
  #mayOpen(id: string, own: SessionState | undefined): boolean {
    if (own?.children.has(id) === true) return true;
    let opening = 0;
    for (const opened of this.#opened) if (own?.children.has(opened) !== true) opening++;
    return (own?.children.size ?? 0) + opening < this.#run.childrenMax;
  }

  /** Those that are not over, whichever owner of it opened them. */
  async live(): Promise<readonly string[]> {
    const own = await this.ownState();
    const states = await Promise.all([...(own?.children ?? [])].map((id) => this.stateOf(id)));
    // A supervisor hears the end, and ends by itself then.
    const isLive = (state: SessionState | undefined): state is SessionState =>
      state !== undefined && state.supervises === undefined && state.end === undefined;
    return states.filter(isLive).map(({ id }) => id);
  }

  /** Nothing that the program opened is left when it is over. */
  async finishAll(): Promise<void> {
    for (const id of await this.live()) await this.ask(id, { type: 'finish' });
  }

  async control(id: string, kind: LifecycleVerb, name: string): Promise<ServiceRefusal | undefined> {
    return await this.ask(id, { type: 'control', kind, requestId: this.idOf('c', name) });
  }

  /** Which of them are not over, or are the last that had one of these calls, where none that goes on has it. */
  async concerned(ids: readonly string[], calls: readonly string[]): Promise<readonly string[]> {
    const states = (await Promise.all(ids.map((id) => this.stateOf(id)))).filter((state) => state !== undefined);
    const live = states.filter(({ end }) => end === undefined);
    const over = calls.flatMap((call) => {
      const message = this.idOf('m', call);
      const last = states.findLast((state) => messageOf(state, message) !== undefined);
      return last?.end === undefined ? [] : [last];
    });
    return [...new Set([...live, ...over])].map(({ id }) => id);
  }

  /** What was asked of the program itself. */
  async passOn(id: string, kind: 'pause' | 'resume', requestId: string): Promise<void> {
    await this.ask(id, { type: 'control', kind, requestId: passedOnId(requestId, id) });
  }

  /** Whether it is paused, or about to be, because the program was; somebody, the program too, may have paused it alone. */
  async isPausedWithProgram({ id, hold, control }: SessionState): Promise<boolean> {
    const asked = control?.kind === 'pause' ? control.requestId : undefined;
    const pausedBy = hold?.kind === 'paused' ? hold.requestId : asked;
    if (pausedBy === undefined) return false;
    const records = await readRecords(this.log, this.#run.session);
    return records.some(
      (record) =>
        record.type === 'control-requested' &&
        record.kind === 'pause' &&
        // The second is what earlier versions called it.
        [passedOnId(record.requestId, id), this.idOf('c', `${record.requestId}-${id}`)].includes(pausedBy),
    );
  }

  /** `cause` names the wish, so that it is not granted twice. */
  async ask(id: string, wish: Wish, cause?: string): Promise<ServiceRefusal | undefined> {
    return await this.askAs(this.actor, id, wish, cause);
  }

  /** As `ask`, of a program that is somebody else there. */
  async askAs(actor: string, id: string, wish: Wish, cause?: string): Promise<ServiceRefusal | undefined> {
    const { store, clock } = this.#ports;
    const command: SessionCommand = { at: clock.now(), actor, cause, ...wish };
    const { writer, session } = this.#run;
    // Nothing reaches a session that the program's journal does not hold, and nothing from an owner that has lost it.
    if ((await writer.write([])) === undefined) return gone(session);
    const executed = await writer.patiently(() => store.execute(id, command));
    return refusedBy(executed, id);
  }

  /** Shows something in the program's own session, and asks for what follows from it, in one commit where the store can. */
  async showAndAsk(
    events: readonly AgentEvent[],
    { id, cause, wish }: { readonly id: string; readonly cause?: string; readonly wish: (because: Because) => Wish },
  ): Promise<ServiceRefusal | undefined> {
    const { clock } = this.#ports;
    const { writer, session } = this.#run;
    const at = clock.now();
    const command = (seq: number): SessionCommand => ({ at, actor: this.actor, cause, ...wish({ session, seq }) });
    const executed = await writer.writeAndFollow(events, { session: id, command });
    return executed === undefined ? gone(session) : refusedBy(executed, id);
  }

  /** The program was given something that a session says, before it is on record there. */
  heardAhead(id: string, secured: WordAhead['secured']): void {
    this.#run.writer.heardAhead(id, secured);
  }

  /** A page of what its agent said. */
  async journalOf(id: string, after: number, limit: number): Promise<readonly Entry[]> {
    return await this.#page({ session: id, stream: 'journal', after, limit });
  }

  /** A page of what it shows. */
  async eventsOf(id: string, after: number, limit: number): Promise<readonly Entry[]> {
    return await this.#page({ session: id, stream: 'events', after, limit });
  }

  async #page(request: Parameters<EventLog['read']>[0]): Promise<readonly Entry[]> {
    return (await this.#run.writer.patiently(() => this.log.read(request))).entries;
  }

  /** Shows what the program does in its own session, and where that stands. */
  async show(events: readonly AgentEvent[]): Promise<Because | undefined> {
    const seq = await this.#run.writer.write(events);
    return seq === undefined || seq === 0 ? undefined : { session: this.#run.session, seq };
  }

  /** Whether the call is shown there already, and has no result. */
  showsCall(callId: string): boolean {
    return this.#run.writer.showsCall(callId);
  }

  /** Who asked the session to stop, as its records tell; undefined when nobody did. */
  async stoppedBy(id: string): Promise<StoppedBy | undefined> {
    const records = await readRecords(this.log, id);
    const asked = records.findLast((record) => record.type === 'control-requested' || record.type === 'turn-started');
    return asked?.type === 'control-requested' ? { verb: asked.kind, actor: asked.actor } : undefined;
  }

  /** Who cancelled or interrupted the turn that the message began, if it ended so. */
  async stoppedIn(id: string, message: string): Promise<StoppedBy | undefined> {
    const records = await readRecords(this.log, id);
    const begun = records.find((record) => record.type === 'turn-started' && record.messageId === message);
    if (begun?.type !== 'turn-started') return undefined;
    const end = records.findLastIndex((record) => record.type === 'turn-ended' && record.turn === begun.turn);
    const ended = records[end];
    if (ended?.type !== 'turn-ended' || (ended.outcome !== 'cancelled' && ended.outcome !== 'interrupted'))
      return undefined;
    const asked = records.slice(0, end).findLast((record) => record.type === 'control-requested');
    return asked?.type === 'control-requested' ? { verb: asked.kind, actor: asked.actor } : undefined;
  }

  /** Whoever answered or withdrew the request. */
  async settledBy(id: string, requestId: string): Promise<string> {
    const records = await readRecords(this.log, id);
    const settled = records.find(
      (record) =>
        (record.type === 'request-answered' || record.type === 'request-withdrawn') && record.requestId === requestId,
    );
    return settled?.actor ?? 'somebody else';
  }

  async stateOf(id: string): Promise<SessionState | undefined> {
    return await this.#run.writer.patiently(() => this.store.state(id));
  }

  /** Of the program itself. */
  async ownState(): Promise<SessionState | undefined> {
    return await this.stateOf(this.#run.session);
  }

  get actor(): string {
    return this.#run.actor;
  }
}

function refusedBy(executed: Executed, id: string): ServiceRefusal | undefined {
  if (executed.ok) return undefined;
  return 'code' in executed.error ? ofDomain(executed.error) : gone(id);
}

function gone(id: string): ServiceRefusal {
  return refusal('no_such_session', `there is no session ${JSON.stringify(id)}`);
}

/** What is said in the program's own session about a call of an agent. */
export function callEvents(call: {
  readonly callId: string;
  readonly agent: string;
  readonly prompt: string;
  readonly child: string;
}): readonly AgentEvent[] {
  const { callId, agent: name, prompt, child: childSession } = call;
  return [{ type: 'functionCall', callId, name, args: { prompt }, childSession }];
}

/** `$error`, or an agent's own `error`, tells that it failed, unless somebody has stopped it. */
export function callResult(
  callId: string,
  name: string,
  said: { readonly [key: string]: Json },
  isStopped = false,
): AgentEvent {
  const { type, ...fields } = said;
  const failed = isStopped ? 'cancelled' : 'failed';
  const response = type === 'error' ? { ...fields, $error: fields.message ?? 'the agent failed' } : fields;
  return {
    type: 'functionResult',
    callId,
    outcome: '$error' in response ? failed : 'ok',
    content: { role: 'user', parts: [{ functionResponse: { name, response } }] },
  };
}
