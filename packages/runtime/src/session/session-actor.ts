import type { OutputPlace } from '@concerto/agents';
import { LogError } from '@concerto/log';
import type { RunnerCommand, ToolConfig, WorkEvent } from '@concerto/protocol';
import { type SessionState, statusOf } from '@concerto/session';
import type { SessionConnection } from '../ports.ts';
import type { ActorPorts, AgentEntry, LeftAgent, Owned } from './actor-ports.ts';
import { rememberCapabilities } from './agent-capabilities.ts';
import { conversationOf, spentBy } from './agent-conversation.ts';
import { AgentJournal } from './agent-journal.ts';
import { AgentLink, undelivered } from './agent-link.ts';
import { AgentListener, type Exit } from './agent-listener.ts';
import { type Speaker, sessionError } from './agent-report.ts';
import { AgentWords } from './agent-words.ts';
import { CommandFollowing } from './command-following.ts';
import { atNextDeadline, startWithin } from './deadline-watch.ts';
import { claimAgent, type Held, keptName, lostWith, stillWanted } from './kept-agents.ts';
import { OwnProcessNotes } from './own-process-notes.ts';
import { type Ownership, OwnerWriter } from './owner-writer.ts';
import { weighed } from './request-risk.ts';
import { type Patience, pause, withPatience } from './store-patience.ts';
import { specWithTools } from './tool-params.ts';
import { errorEvent } from './translate.ts';
import { TurnTimeouts } from './turn-timeouts.ts';

/** Output waits this long at most for our own write to be confirmed, so that a deaf agent cannot stop its reader. */
const writeConfirmMs = 1_000;

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
  readonly #words: AgentWords;
  #live: AgentLink | undefined;
  #leaving = false;
  /** We have ended its process. */
  #isDismissed = false;
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
    this.#words = new AgentWords({
      session: own.session,
      protocol: entry.spec.protocol,
      writer: this.#writer,
      speaker: (live) => this.#speaker(live),
      turnStarted: () => this.#timeouts.turnStarted(),
      guard: (work) => this.#guard(work),
    });
    if (isChild) this.#journal = new AgentJournal(this.#writer, ports.clock);
  }

  /** Runs until the session needs no owner, is lost to another one, or `release` or `abandon` is called. Never rejects. */
  async run(): Promise<ActorEnd> {
    try {
      // Whoever owned it before is fenced already: what stands here is from before our claim.
      const after = await withPatience(() => this.#ports.log.head(this.#own.session, 'commands'), this.#patience());
      await this.#writer.begin();
      const held = await withPatience(() => this.#heldStill(), this.#patience());
      const { runner, fence } = this.#own;
      const goesOn = held === undefined ? { lost: lostWith(this.#ports) } : { kept: held.incarnation };
      const within = startWithin(this.#entry.initTimeoutMs);
      const state = await this.#tell({ type: 'claimed', epoch: fence.epoch, runner, ...within, ...goesOn });
      if (held !== undefined && state !== undefined) await this.#goOn(held, state);
      await this.#commands.run(after);
    } catch (cause) {
      this.#failed(cause);
    } finally {
      this.#cancelDeadline();
      this.#timeouts.stop();
      await this.#guard(this.#letGo());
    }
    return this.#end;
  }

  /**
   * Gives the session up in good order; the next owner carries on. Where it may, an agent that is at work goes on
   * without us; any other process ends. Gives one that goes on.
   */
  readonly release = (reason: string, keeps: boolean): Promise<LeftAgent | undefined> =>
    this.#leave(reason, 'released', keeps);

  /** The process first: whoever comes next must not find two. Its end is ours, so it is not reported as the agent's. */
  async #leave(reason: string, end: ActorEnd, keeps = false): Promise<LeftAgent | undefined> {
    if (this.#ended.signal.aborted || this.#leaving) return undefined;
    this.#leaving = true;
    const live = this.#live;
    const stays = keeps && live?.kept !== undefined && this.#followed?.turn.active === true ? live : undefined;
    this.#isDismissed = stays === undefined;
    await this.#guard(stays === undefined ? this.#endProcess() : stays.detach());
    const kept = stays?.incarnation;
    await this.#guard(
      this.#tell((state) => ({
        type: 'released',
        epoch: this.#own.fence.epoch,
        reason,
        ...(kept === undefined ? { undelivered: undelivered(state, live) } : { kept }),
      })),
    );
    this.#finish(end);
    return stays === undefined ? undefined : { name: keptName(this.#own.session, stays.incarnation), pid: stays.pid };
  }

  /** The lease is gone: let the process go and write nothing more. */
  abandon(): void {
    this.#finish('lost');
  }

  #finish(end: ActorEnd): void {
    if (this.#ended.signal.aborted) return;
    this.#end = end;
    this.#ended.abort();
    // Whoever has the session now finds its agent as it is.
    if (end === 'lost' && this.#ports.keeper !== undefined) void this.#live?.detach();
    else this.#live?.abort.abort();
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
        return this.#words.deliver(live, command);
      case 'answer':
        return this.#words.answer(live, command);
      case 'respond':
        return this.#words.respond(live, command);
      case 'withdraw':
        return this.#words.withdraw(live, command);
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
    const { keeper, clock } = this.#ports;
    const { session, fence } = this.#own;
    const live = new AgentLink(incarnation, clock, keeper?.begin(keptName(session, incarnation), fence.epoch));
    this.#live = live;
    live.up = this.#guard(this.#bringUp(live));
  }

  async #heldStill(): Promise<Held | undefined> {
    const state = await this.#ports.store.state(this.#own.session);
    return state === undefined ? undefined : await claimAgent(this.#ports, this.#own, state);
  }

  /** An agent that its keeper held: it says all again that it said, and is then given what it has not got. */
  async #goOn(held: Held, state: SessionState): Promise<void> {
    const { incarnation, agent, heard } = held;
    const live = new AgentLink(incarnation, this.#ports.clock, agent);
    this.#live = live;
    live.turn = state.turn.number;
    if (state.turn.active) this.#timeouts.turnStarted();
    const wanted = await stillWanted(this.#ports.log, state, held);
    const { handedOver, answered, commands } = wanted;
    live.promptedBy = wanted.promptedBy;
    live.responds = wanted.responds;
    live.steeredBefore(wanted.steers);
    if (handedOver !== undefined) await this.#words.handedOver(live, handedOver);
    for (const requestId of answered) await this.#words.answered(live, requestId);
    const isReady = state.agentProcess.kind === 'ready';
    live.up = this.#guard(this.#bringUp(live, { isReady, heard }));
    const given = live.takenUp.then(async () => {
      for (const command of commands) await this.#guard(this.#obey(command));
    });
    // One that is still starting is waited for like any other.
    if (isReady) await Promise.race([given, live.up]);
  }

  async #bringUp(live: AgentLink, before: { isReady?: boolean; heard?: OutputPlace | undefined } = {}): Promise<void> {
    const { startAgent, environment = process.env } = this.#ports;
    const { spec, initTimeoutMs } = this.#entry;
    let connection: SessionConnection;
    try {
      // An agent of our own wire keeps its conversation itself.
      const isForeign = spec.protocol !== undefined && spec.protocol !== 'ndjson';
      const conversation = isForeign ? await conversationOf(this.#ports.log, this.#own.session) : undefined;
      connection = await startAgent(specWithTools(spec, this.#tools, environment), {
        ...(live.agent === undefined ? {} : { kept: live.agent }),
        signal: live.abort.signal,
        ...(initTimeoutMs === undefined ? {} : { initTimeoutMs }),
        ...(conversation === undefined ? {} : { conversation, ...spentBy(this.#followed) }),
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
      if (this.#live !== live || this.#leaving || live.isDetached) return;
      this.#live = undefined;
      await this.#notes.forget();
      await this.#tell({ type: 'start-failed', ...this.#speaker(live), error: sessionError(cause) });
      return;
    }
    const capabilities = [
      ...((this.#journal === undefined ? undefined : connection.announced) ?? connection.capabilities),
    ];
    const version = connection.version === undefined ? {} : { version: connection.version };
    if (before.isReady !== true) {
      const state = await this.#tell({ type: 'agent-ready', ...this.#speaker(live), capabilities, ...version });
      // A program goes on with the turn that its last owner left.
      if (state?.turn.active === true) live.turn = state.turn.number;
      rememberCapabilities(this.#ports, this.#entry.name, capabilities);
    }
    this.#writer.hears(live.incarnation);
    await this.#listenerOf(live, before.heard).listen(weighed(connection.output, connection.spec));
  }

  #listenerOf(live: AgentLink, heard: OutputPlace | undefined): AgentListener {
    return new AgentListener({
      link: live,
      speaker: this.#speaker(live),
      agent: this.#entry.name,
      writer: this.#writer,
      timeouts: this.#timeouts,
      mintId: this.#ports.mintId,
      counts: () => this.#live === live && !this.#ended.signal.aborted,
      isDismissed: () => this.#isDismissed,
      heard,
      wordsRecorded: () => Promise.race([this.#words.recorded, pause(this.#ports.clock, writeConfirmMs)]),
      said: (output, requestId) => {
        if (output.kind !== 'exit' || !this.#isDismissed) this.#journal?.said(live, output, requestId);
      },
      announced: (capabilities) => rememberCapabilities(this.#ports, this.#entry.name, capabilities),
      exited: (exit, observed) => this.#exited(live, exit, observed),
      route: this.#ports.route,
    });
  }

  async #exited(live: AgentLink, { exit, error: cause }: Exit, observed: readonly WorkEvent[]): Promise<void> {
    // One that was dismissed is known to be over.
    if (this.#isDismissed) return await this.#writer.show(observed);
    this.#live = undefined;
    await this.#notes.forget();
    const error = sessionError(cause, exit);
    await this.#tell(
      (state) => ({
        type: 'process-exited',
        ...this.#speaker(live),
        // An exit that was asked for is no error of the agent's.
        observed:
          state?.turn.active === true && state.control === undefined
            ? [...observed, errorEvent(live.callId, error.message)]
            : observed,
        error,
        undelivered: undelivered(state, live),
      }),
      'all',
    );
    live.kept?.forget();
  }

  async #timedOut(why: string): Promise<void> {
    const live = this.#live;
    if (live === undefined) return;
    const error = { code: 'timeout', message: why };
    const observed = [errorEvent(live.callId, why)];
    await this.#tell({ type: 'turn-ended', ...this.#speaker(live), outcome: 'error', observed, error });
    await live.end();
  }

  async #tell(...told: Parameters<OwnerWriter['tell']>): Promise<SessionState | undefined> {
    return await this.#writer.tell(...told);
  }

  /** After every decision that we make or see, a user's too: arms the next deadline, and leaves when nobody is needed. */
  noticed(state: SessionState): void {
    if (state === this.#followed || this.#ended.signal.aborted) return;
    this.#followed = state;
    this.#ports.stands?.(state);
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
    live.kept?.forget();
    await this.#notes.forget();
  }

  /** At the end: what was left to another owner is not ours to end. */
  async #letGo(): Promise<void> {
    if (this.#live?.isDetached === true) await this.#live.up;
    else await this.#endProcess();
  }

  #patience(): Patience {
    return { clock: this.#ports.clock, givenUp: () => this.#ended.signal.aborted };
  }

  /** Work beside the command loop: a failure ends this session's owner, never the process. */
  async #guard(work: Promise<unknown>): Promise<void> {
    await work.catch((cause: unknown) => this.#failed(cause));
  }

  #speaker(live: AgentLink): Speaker {
    return { epoch: this.#own.fence.epoch, incarnation: live.incarnation };
  }
}
