import { type EventLog, LogError } from '@concerto/log';
import type { RunnerCommand, ToolConfig, WorkEvent } from '@concerto/protocol';
import { type SessionState, statusOf } from '@concerto/session';
import type { CatalogEntry } from '../catalog.ts';
import type { Clock, Environment, MintId, Report, SessionConnection, StartWork } from '../ports.ts';
import { rememberCapabilities } from './agent-capabilities.ts';
import { conversationOf } from './agent-conversation.ts';
import { AgentJournal, replyOf } from './agent-journal.ts';
import { AgentLink, undelivered } from './agent-link.ts';
import { AgentListener, type Exit } from './agent-listener.ts';
import { type Speaker, sessionError } from './agent-report.ts';
import { CommandFollowing } from './command-following.ts';
import { atNextDeadline, startWithin } from './deadline-watch.ts';
import { OwnProcessNotes } from './own-process-notes.ts';
import { type Ownership, OwnerWriter } from './owner-writer.ts';
import type { ProcessRegister } from './process-register.ts';
import type { SessionStore } from './session-store.ts';
import { type Patience, pause, withPatience } from './store-patience.ts';
import { specWithTools } from './tool-params.ts';
import { answerValue, errorEvent } from './translate.ts';
import { TurnTimeouts } from './turn-timeouts.ts';

export type ActorPorts = {
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly mintId: MintId;
  readonly startAgent: StartWork;
  readonly processes: Pick<ProcessRegister, 'remember' | 'forget' | 'endAllOf' | 'end' | 'here'>;
  readonly report: Report;
  /** Where secrets are looked up; our own variables unless given. */
  readonly environment?: Environment;
};

/** Output waits this long at most for our own write to be confirmed, so that a deaf agent cannot stop its reader. */
const writeConfirmMs = 1_000;

type Command<Type> = Extract<RunnerCommand, { type: Type }>;
type AgentEntry = Extract<CatalogEntry, { kind: 'agent' }>;

/** What is owned: the session, as what, and whether it ends with its first result. */
export type Owned = {
  readonly own: Ownership;
  readonly entry: AgentEntry;
  readonly once: boolean;
  readonly tools: ToolConfig | undefined;
  /** Another session opened it, and hears it. */
  readonly isChild: boolean;
};

/** Why an actor ended: the session needs no owner now, it was taken from us or could not be kept, or the runner is stopping. */
export type ActorEnd = 'done' | 'lost' | 'released';

/**
 * Owns one agent session: obeys its commands, drives its process, reports what happens. It decides nothing; every
 * report goes through the domain, and every write is fenced by the epoch under which the session was claimed.
 */
export class SessionActor {
  readonly #ports: ActorPorts;
  readonly #own: Ownership;
  readonly #entry: AgentEntry;
  readonly #tools: ToolConfig | undefined;
  /** Of a session that another one opened, and hears. */
  readonly #journal: AgentJournal | undefined;
  readonly #ended = new AbortController();
  readonly #timeouts: TurnTimeouts;
  readonly #writer: OwnerWriter;
  readonly #commands: CommandFollowing;
  readonly #notes: OwnProcessNotes;
  #live: AgentLink | undefined;
  #writing: Promise<void> = Promise.resolve();
  #leaving = false;
  #end: ActorEnd = 'done';
  #followed: SessionState | undefined;
  #cancelDeadline: () => void = () => {};

  constructor(ports: ActorPorts, { own, entry, once, tools, isChild }: Owned) {
    this.#ports = ports;
    this.#own = own;
    this.#entry = entry;
    this.#tools = tools;
    this.#timeouts = new TurnTimeouts(
      ports.clock,
      { ...entry, wholeRun: once },
      (why) => void this.#guard(this.#timedOut(why)),
    );
    const note = { session: own.session, epoch: own.fence.epoch };
    this.#notes = new OwnProcessNotes(ports.processes, note, this.#patience());
    this.#commands = new CommandFollowing({
      log: ports.log,
      clock: ports.clock,
      session: own.session,
      signal: this.#ended.signal,
      obey: (command) => this.#guard(this.#obey(command)),
      // A wish decided by another process may have set a deadline that is ours to keep.
      caughtUp: async () => {
        const state = await ports.store.state(own.session);
        if (state !== undefined) this.noticed(state);
      },
    });
    this.#writer = new OwnerWriter({
      store: ports.store,
      clock: ports.clock,
      own,
      log: ports.log,
      ended: this.#ended.signal,
      fencedOff: () => this.#finish('lost'),
      stands: (state) => this.noticed(state),
      commanded: (commands, head) => this.#commands.decided(commands, head),
    });
    if (isChild) this.#journal = new AgentJournal(this.#writer, ports.clock);
  }

  /** Runs until the session needs no owner, is lost to another one, or `release` or `abandon` is called. Never rejects. */
  async run(): Promise<ActorEnd> {
    try {
      // Whoever owned it before is fenced already: what stands here is from before our claim.
      const after = await withPatience(() => this.#ports.log.head(this.#own.session, 'commands'), this.#patience());
      await this.#writer.begin();
      await withPatience(() => this.#ports.processes.endAllOf(this.#own.session), this.#patience());
      const { runner, fence } = this.#own;
      await this.#tell({ type: 'claimed', epoch: fence.epoch, runner, ...startWithin(this.#entry.initTimeoutMs) });
      await this.#commands.run(after);
    } catch (cause) {
      this.#failed(cause);
    } finally {
      this.#cancelDeadline();
      this.#timeouts.stop();
      await this.#guard(this.#endProcess());
    }
    return this.#end;
  }

  /** Gives the session up in good order: its process ends, the next owner carries on. */
  readonly release = (reason: string): Promise<void> => this.#leave(reason, 'released');

  /** The process first: whoever comes next must not find two. Its end is ours, so it is not reported as the agent's. */
  async #leave(reason: string, end: ActorEnd): Promise<void> {
    if (this.#ended.signal.aborted || this.#leaving) return;
    this.#leaving = true;
    await this.#guard(this.#endProcess());
    const live = this.#live;
    await this.#guard(
      this.#tell((state) => ({
        type: 'released',
        epoch: this.#own.fence.epoch,
        reason,
        undelivered: undelivered(state, live),
      })),
    );
    this.#finish(end);
  }

  /** The lease is gone: end the process and write nothing more. */
  abandon(): void {
    this.#finish('lost');
  }

  #finish(end: ActorEnd): void {
    if (this.#ended.signal.aborted) return;
    this.#end = end;
    this.#ended.abort();
    this.#live?.abort.abort();
  }

  #failed(cause: unknown): void {
    if (!this.#ended.signal.aborted) this.#ports.report(`session ${this.#own.session}: its owner failed`, cause);
    this.#finish('lost');
  }

  async #obey(command: RunnerCommand): Promise<void> {
    if (this.#leaving) return; // What is still wanted is given to the next owner.
    if (command.type === 'attend') {
      await this.#writer.attend();
      return;
    }
    if (command.type === 'start') {
      // Our successor's: we have lost the session and did not know.
      return command.epoch === this.#own.fence.epoch ? this.#start(command.incarnation) : this.#finish('lost');
    }
    const live = this.#live;
    if (live === undefined || command.incarnation !== live.incarnation) return;
    switch (command.type) {
      case 'deliver':
        return this.#deliver(live, command);
      case 'answer':
        return this.#answer(live, command);
      case 'respond':
        this.#writing = this.#guard(live.replyLine(command.line));
        return;
      case 'withdraw':
        return this.#withdraw(live, command.requestId, command.reason);
      case 'interrupt':
      case 'pause':
      case 'resume':
      case 'cancel':
        if (live.control(command) === 'asked') return;
        return await this.#confirm(live, command.requestId);
      case 'signal-interrupt':
        return live.interrupt();
      case 'freeze':
        live.freeze();
        return await this.#confirm(live, command.requestId);
      case 'terminate':
        return void this.#guard(live.end());
      case 'kill':
        return void this.#guard(live.end(0));
      case 'stop':
        return void this.#guard(this.#leave(`the session is ${command.reason}`, 'done'));
    }
  }

  async #confirm(live: AgentLink, requestId: string): Promise<void> {
    await this.#tell({ type: 'control-acked', ...this.#speaker(live), requestId });
  }

  #start(incarnation: number): void {
    const live = new AgentLink(incarnation, this.#ports.clock);
    this.#live = live;
    void this.#guard(this.#bringUp(live));
  }

  async #bringUp(live: AgentLink): Promise<void> {
    const { startAgent, environment = process.env } = this.#ports;
    const { spec, initTimeoutMs } = this.#entry;
    let connection: SessionConnection;
    try {
      // An agent of our own wire keeps its conversation itself.
      const isForeign = spec.protocol !== undefined && spec.protocol !== 'ndjson';
      const conversation = isForeign ? await conversationOf(this.#ports.log, this.#own.session) : undefined;
      connection = await startAgent(specWithTools(spec, this.#tools, environment), {
        signal: live.abort.signal,
        ...(initTimeoutMs === undefined ? {} : { initTimeoutMs }),
        ...(conversation === undefined ? {} : { conversation }),
        writer: this.#writer,
        epoch: this.#own.fence.epoch,
        onProcess: (identity) => this.#notes.remember(identity),
        onStderr: (text) => this.#journal?.stderr(live, text),
      });
      live.connected(connection);
      if (live.abort.signal.aborted) await connection.end();
      live.abort.signal.throwIfAborted();
    } catch (cause) {
      // Our own store failed, not the agent: the next owner starts it again.
      if (cause instanceof LogError) throw cause;
      if (this.#live !== live || this.#leaving) return;
      this.#live = undefined;
      await this.#notes.forget();
      await this.#tell({ type: 'start-failed', ...this.#speaker(live), error: sessionError(cause) });
      return;
    }
    const capabilities = [
      ...((this.#journal === undefined ? undefined : connection.announced) ?? connection.capabilities),
    ];
    const version = connection.version === undefined ? {} : { version: connection.version };
    const state = await this.#tell({ type: 'agent-ready', ...this.#speaker(live), capabilities, ...version });
    // A program goes on with the turn that its last owner left.
    if (state?.turn.active === true) live.turn = state.turn.number;
    rememberCapabilities(this.#ports, this.#entry.name, capabilities);
    await this.#listenerOf(live).listen(connection.output);
  }

  #listenerOf(live: AgentLink): AgentListener {
    return new AgentListener({
      link: live,
      speaker: this.#speaker(live),
      agent: this.#entry.name,
      writer: this.#writer,
      timeouts: this.#timeouts,
      mintId: this.#ports.mintId,
      counts: () => this.#live === live && !this.#ended.signal.aborted,
      isDismissed: () => this.#leaving,
      wordsRecorded: () => Promise.race([this.#writing, pause(this.#ports.clock, writeConfirmMs)]),
      said: (output, requestId) => {
        if (output.kind !== 'exit' || !this.#leaving) this.#journal?.said(live, output, requestId);
      },
      announced: (capabilities) => rememberCapabilities(this.#ports, this.#entry.name, capabilities),
      exited: (exit, observed) => this.#exited(live, exit, observed),
    });
  }

  #deliver(live: AgentLink, command: Command<'deliver'>): void {
    const { dispatchId, how } = command;
    const speaker = this.#speaker(live);
    // A repeat: when it was handed over, only the confirmation was lost.
    const before = live.handedOver(dispatchId);
    if (before === 'written') void this.#guard(this.#tell({ type: 'delivered', ...speaker, dispatchId, how }));
    if (before !== undefined) return;
    live.turn = command.turn;
    if (how === 'prompt') this.#timeouts.turnStarted();
    this.#writing = this.#guard(
      live.deliver(command, this.#own.session).then(
        () => this.#tell({ type: 'delivered', ...speaker, dispatchId, how, observed: live.heardAtOnce(command) }),
        (cause: unknown) => {
          const { message: reason } = sessionError(cause);
          const closing = how === 'prompt' ? [errorEvent(live.callId, reason)] : [];
          return this.#tell({ type: 'delivery-refused', ...speaker, dispatchId, reason, closing });
        },
      ),
    );
  }

  #answer(live: AgentLink, { requestId, response, line }: Command<'answer'>): void {
    const question = live.questions.take(requestId);
    if (question === undefined) return;
    const replied =
      line !== undefined && live.takesLines
        ? live.replyLine(line)
        : live.reply(question, replyOf(line) ?? { value: answerValue(question.event, response) });
    this.#writing = this.#guard(
      replied.then(async (written) => {
        if (written) await this.#tell({ type: 'answer-delivered', ...this.#speaker(live), requestId });
      }),
    );
  }

  #withdraw(live: AgentLink, requestId: string, reason: string): void {
    const question = live.questions.take(requestId);
    if (question === undefined) return;
    this.#writing = this.#guard(live.reply(question, { error: reason }).then(() => undefined));
  }

  async #exited(live: AgentLink, { exit, error: cause }: Exit, observed: readonly WorkEvent[]): Promise<void> {
    // One that was dismissed is known to be over.
    if (this.#leaving) return await this.#writer.show(observed);
    this.#live = undefined;
    await this.#notes.forget();
    const error = sessionError(cause, exit);
    await this.#tell((state) => ({
      type: 'process-exited',
      ...this.#speaker(live),
      // An exit that was asked for is no error of the agent's.
      observed:
        state?.turn.active === true && state.control === undefined
          ? [...observed, errorEvent(live.callId, error.message)]
          : observed,
      error,
      undelivered: undelivered(state, live),
    }));
  }

  async #timedOut(why: string): Promise<void> {
    const live = this.#live;
    if (live === undefined) return;
    const error = { code: 'timeout', message: why };
    const observed = [errorEvent(live.callId, why)];
    await this.#tell({ type: 'turn-ended', ...this.#speaker(live), outcome: 'error', observed, error });
    await live.end();
  }

  async #tell(report: Parameters<OwnerWriter['tell']>[0]): Promise<SessionState | undefined> {
    return await this.#writer.tell(report);
  }

  /** After every decision that we make or see, a user's too: arms the next deadline, and leaves when nobody is needed. */
  noticed(state: SessionState): void {
    if (state === this.#followed || this.#ended.signal.aborted) return;
    this.#followed = state;
    this.#cancelDeadline();
    if (state.agentProcess.kind === 'none') {
      if (state.end !== undefined) return this.#finish('done');
      if (state.slot.kind === 'none' && state.owner !== undefined) {
        return void this.#guard(this.#leave('the session is parked', 'done'));
      }
    }
    this.#timeouts.stands(statusOf(state));
    this.#cancelDeadline = atNextDeadline(state, this.#ports.clock, (deadline) => {
      // The same state, an instant later, has passed its deadline.
      this.#followed = undefined;
      void this.#guard(this.#writer.expire(deadline));
    });
  }

  async #endProcess(): Promise<void> {
    const live = this.#live;
    if (live === undefined) return;
    await live.end(this.#followed?.end?.reason === 'forced' ? 0 : undefined);
    await this.#notes.forget();
  }

  #patience(): Patience {
    return { clock: this.#ports.clock, givenUp: () => this.#ended.signal.aborted };
  }

  /** Work beside the command loop: a failure ends this session's owner, never the process. */
  async #guard(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (cause) {
      this.#failed(cause);
    }
  }

  #speaker(live: AgentLink): Speaker {
    return { epoch: this.#own.fence.epoch, incarnation: live.incarnation };
  }
}
