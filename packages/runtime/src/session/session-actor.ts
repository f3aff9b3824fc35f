import type { AgentConnection, AgentOutput } from '@concerto/agents';
import { assert, type Json } from '@concerto/base';
import { type EventLog, follow } from '@concerto/log';
import { type AgentEvent, RunnerCommand } from '@concerto/protocol';
import { nextDeadline, type Report as SessionReport, type SessionState } from '@concerto/session';
import type { CatalogEntry } from '../catalog.ts';
import type { Clock, MintId, Report, StartAgent } from '../ports.ts';
import { AgentLink } from './agent-link.ts';
import { reportOf, type Speaker, sessionError } from './agent-report.ts';
import type { ProcessRegister } from './process-register.ts';
import type { Fence, SessionStore } from './session-store.ts';
import { answerValue, errorEvent, promptEvents, type Translation, translate } from './translate.ts';
import { TurnTimeouts } from './turn-timeouts.ts';

export type ActorPorts = {
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly mintId: MintId;
  readonly startAgent: StartAgent;
  readonly processes: ProcessRegister;
  readonly report: Report;
};

export type Ownership = { readonly session: string; readonly runner: string; readonly fence: Fence };

/** Output waits this long at most for our own write to be confirmed, so that a deaf agent cannot stop its reader. */
const writeConfirmMs = 1_000;

type Deliver = Extract<RunnerCommand, { type: 'deliver' }>;

/** Why an actor ended: the session needs no owner now, it was taken from us, or the runner is stopping. */
export type ActorEnd = 'done' | 'lost' | 'released';

/**
 * Owns one agent session: obeys its commands, drives its process, reports what happens. It decides nothing; every
 * report goes through the domain, and every write is fenced by the epoch under which the session was claimed.
 */
export class SessionActor {
  readonly #ports: ActorPorts;
  readonly #own: Ownership;
  readonly #entry: Extract<CatalogEntry, { kind: 'agent' }>;
  readonly #ended = new AbortController();
  readonly #timeouts: TurnTimeouts;
  #live: AgentLink | undefined;
  #writing: Promise<void> = Promise.resolve();
  #turn = 0;
  #end: ActorEnd = 'done';
  #cancelDeadline: () => void = () => {};

  constructor(ports: ActorPorts, own: Ownership, entry: Extract<CatalogEntry, { kind: 'agent' }>) {
    this.#ports = ports;
    this.#own = own;
    this.#entry = entry;
    this.#timeouts = new TurnTimeouts(ports.clock, entry, (why) => void this.#guard(this.#timedOut(why)));
  }

  /** Runs until the session needs no owner, is lost to another one, or `release` or `abandon` is called. */
  async run(): Promise<ActorEnd> {
    const after = await this.#ports.log.head(this.#own.session, 'commands');
    try {
      await this.#ports.processes.endOrphan(this.#own.session);
      await this.#tell({ type: 'claimed', epoch: this.#own.fence.epoch, runner: this.#own.runner });
      for await (const page of follow(this.#ports.log, {
        session: this.#own.session,
        stream: 'commands',
        after,
        signal: this.#ended.signal,
      })) {
        for (const entry of page.entries) {
          await this.#obey(RunnerCommand.parse(JSON.parse(entry.data)));
          if (this.#ended.signal.aborted) break;
        }
        // A wish decided by another process may have set a deadline that is ours to keep.
        const state = await this.#ports.store.state(this.#own.session);
        if (state !== undefined) this.noticed(state);
      }
    } catch (cause) {
      this.#ports.report(`session ${this.#own.session}: its owner failed`, cause);
      this.#finish('lost');
    } finally {
      this.#cancelDeadline();
      this.#timeouts.stop();
      await this.#endProcess();
    }
    return this.#end;
  }

  /** Gives the session up in good order: its process ends, the next owner carries on. */
  async release(reason: string): Promise<void> {
    if (this.#ended.signal.aborted) return;
    await this.#endProcess();
    await this.#tell({ type: 'released', epoch: this.#own.fence.epoch, reason });
    this.#finish('released');
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

  async #obey(command: RunnerCommand): Promise<void> {
    if (command.type === 'start') return this.#start(command.incarnation);
    const live = this.#live;
    if (live === undefined || command.incarnation !== live.incarnation) return;
    switch (command.type) {
      case 'deliver':
        return this.#deliver(live, command);
      case 'answer':
        return this.#answer(live, command.requestId, command.response);
      case 'withdraw':
        return this.#withdraw(live, command.requestId, command.reason);
      case 'interrupt':
      case 'pause':
      case 'resume':
      case 'cancel':
        if (live.control(command) === 'asked') return;
        return await this.#tell({ type: 'control-acked', ...this.#from(), requestId: command.requestId });
      case 'signal-interrupt':
        return live.interrupt();
      case 'freeze':
        live.freeze();
        return await this.#tell({ type: 'control-acked', ...this.#from(), requestId: command.requestId });
      case 'terminate':
        return void this.#guard(live.end());
      case 'kill':
        return void this.#guard(live.end(0));
      case 'stop':
        await this.#endProcess();
        return this.#finish('done');
    }
  }

  #start(incarnation: number): void {
    const live = new AgentLink(incarnation);
    this.#live = live;
    const options = {
      signal: live.abort.signal,
      ...(this.#entry.initTimeoutMs === undefined ? {} : { initTimeoutMs: this.#entry.initTimeoutMs }),
      onProcess: (identity: Parameters<ProcessRegister['remember']>[1]) =>
        this.#ports.processes.remember(this.#own.session, identity),
    };
    void this.#guard(
      this.#ports.startAgent(this.#entry.spec, options).then(
        async (connection) => {
          live.connected(connection);
          if (this.#live !== live || this.#ended.signal.aborted) return void (await connection.end());
          const capabilities = [...connection.capabilities];
          await this.#rememberCapabilities(capabilities);
          await this.#tell({
            type: 'agent-ready',
            ...from(this.#own, live),
            capabilities,
            ...(connection.version === undefined ? {} : { version: connection.version }),
          });
          await this.#read(live, connection);
        },
        async (cause) => {
          await this.#ports.processes.forget(this.#own.session);
          if (this.#live === live)
            await this.#tell({ type: 'start-failed', ...from(this.#own, live), error: sessionError(cause) });
        },
      ),
    );
  }

  #deliver(live: AgentLink, command: Deliver): void {
    const { dispatchId, how } = command;
    // A repeat of one that was handed over: only the confirmation was lost.
    if (live.wasDelivered(dispatchId)) {
      return void this.#guard(this.#tell({ type: 'delivered', ...this.#from(), dispatchId, how }));
    }
    if (how === 'prompt') {
      this.#turn = command.turn;
      this.#timeouts.turnStarted();
    }
    const observed = how === 'prompt' ? promptEvents(this.#turnName(), command.content, command.objective) : [];
    this.#writing = this.#guard(
      live.deliver(command, this.#own.session).then(
        () => this.#tell({ type: 'delivered', ...from(this.#own, live), dispatchId, how, observed }),
        (cause: unknown) => {
          const { message: reason } = sessionError(cause);
          return this.#tell({ type: 'delivery-refused', ...from(this.#own, live), dispatchId, reason });
        },
      ),
    );
  }

  #answer(live: AgentLink, requestId: string, response: Json): void {
    const question = live.questions.take(requestId);
    if (question === undefined) return;
    this.#timeouts.answered(live.questions.size);
    this.#writing = this.#guard(
      live.reply(question, { value: answerValue(question.event, response) }).then(async (written) => {
        if (written) await this.#tell({ type: 'answer-delivered', ...from(this.#own, live), requestId });
      }),
    );
  }

  #withdraw(live: AgentLink, requestId: string, reason: string): void {
    const question = live.questions.take(requestId);
    if (question === undefined) return;
    this.#timeouts.answered(live.questions.size);
    this.#writing = this.#guard(live.reply(question, { error: reason }).then(() => undefined));
  }

  async #read(live: AgentLink, connection: AgentConnection): Promise<void> {
    for await (const batch of connection.output) {
      await Promise.race([this.#writing, this.#pause(writeConfirmMs)]);
      if (this.#ended.signal.aborted) continue; // Drained to its end, so that the process can go.
      await this.#hear(live, batch);
    }
  }

  /** Events of a batch go together; a message that changes the session carries those before it along. */
  async #hear(live: AgentLink, batch: readonly AgentOutput[]): Promise<void> {
    let observed: AgentEvent[] = [];
    this.#timeouts.heard();
    for (const output of batch) {
      if (output.kind === 'message') {
        const translation = translate(this.#turnName(), output.message, output.raw, () => this.#ports.mintId('req'));
        if (translation.kind === 'events') {
          observed.push(...translation.events);
          continue;
        }
        await this.#tellTranslated(live, output, { translation, observed });
      } else {
        await this.#tellProcess(live, output, observed);
      }
      observed = [];
    }
    await this.#show(observed);
  }

  async #tellTranslated(
    live: AgentLink,
    output: Extract<AgentOutput, { kind: 'message' }>,
    {
      translation,
      observed,
    }: { readonly translation: Exclude<Translation, { kind: 'events' }>; readonly observed: readonly AgentEvent[] },
  ): Promise<void> {
    if (translation.kind === 'request') {
      live.questions.add(translation.event, output.raw);
      this.#timeouts.asked();
    }
    if (translation.kind === 'result' || translation.kind === 'error') this.#turnEnded();
    await this.#tell(reportOf(from(this.#own, live), translation, observed));
  }

  async #tellProcess(
    live: AgentLink,
    output: Exclude<AgentOutput, { kind: 'message' }>,
    observed: readonly AgentEvent[],
  ): Promise<void> {
    const own = from(this.#own, live);
    const { callId } = this.#turnName();
    switch (output.kind) {
      case 'announced':
        await this.#show(observed);
        await this.#rememberCapabilities(output.capabilities);
        return await this.#tell({ type: 'agent-ready', ...own, capabilities: output.capabilities });
      case 'violation': {
        const error = sessionError(output.error);
        const seen = [...observed, errorEvent(callId, error.message)];
        if (!output.fatal) return await this.#show(seen);
        this.#turnEnded();
        await this.#tell({ type: 'turn-ended', ...own, outcome: 'error', observed: seen, error });
        return void this.#guard(live.end());
      }
      case 'exit': {
        this.#turnEnded();
        await this.#ports.processes.forget(this.#own.session);
        const error = sessionError(output.error, output.exit);
        const state = this.#state();
        // An exit that was asked for is no error of the agent's.
        const isFault = state?.turn.active === true && state.control === undefined;
        const seen = isFault ? [...observed, errorEvent(callId, error.message)] : observed;
        if (this.#live === live) this.#live = undefined;
        return await this.#tell({ type: 'process-exited', ...own, observed: seen, error });
      }
    }
  }

  /** So that a user sees what an agent can do before starting it again. */
  async #rememberCapabilities(capabilities: readonly string[]): Promise<void> {
    const value = JSON.stringify(capabilities);
    await this.#ports.log.putDocument({ collection: 'capabilities', key: this.#entry.name, value });
  }

  #turnEnded(): void {
    this.#live?.turnEnded();
    this.#timeouts.turnEnded();
  }

  async #timedOut(why: string): Promise<void> {
    const { callId } = this.#turnName();
    const error = { code: 'timeout', message: why };
    await this.#tell({
      type: 'turn-ended',
      ...this.#from(),
      outcome: 'error',
      observed: [errorEvent(callId, why)],
      error,
    });
    void this.#guard(this.#live?.end());
  }

  async #show(events: readonly AgentEvent[]): Promise<void> {
    const at = new Date(this.#ports.clock.now()).toISOString();
    if (!(await this.#ports.store.appendEvents(this.#own.session, events, at, this.#own.fence))) this.#finish('lost');
  }

  async #tell(report: SessionReport): Promise<void> {
    if (this.#ended.signal.aborted) return;
    const { session, fence, runner } = this.#own;
    const at = this.#ports.clock.now();
    const executed = await this.#ports.store.execute(session, { at, actor: `runner:${runner}`, ...report }, fence);
    if (executed.ok) return this.#followUp(executed.value.state);
    if ('kind' in executed.error) return this.#finish('lost');
    assert(false, `the domain refused a report: ${executed.error.code}`);
  }

  /** Called after every decision that we make or see: arms the next deadline, and leaves when nobody is needed. */
  #followUp(state: SessionState): void {
    this.#cancelDeadline();
    if (state.end !== undefined && state.agentProcess.kind === 'none') return this.#finish('done');
    const deadline = nextDeadline(state);
    if (deadline === undefined) return;
    this.#cancelDeadline = this.#ports.clock.at(deadline, () => void this.#guard(this.#expire()));
  }

  async #expire(): Promise<void> {
    const { session, fence } = this.#own;
    const command = { type: 'expire', at: this.#ports.clock.now(), actor: 'clock' } as const;
    const executed = await this.#ports.store.execute(session, command, fence);
    if (executed.ok) this.#followUp(executed.value.state);
    else if ('kind' in executed.error) this.#finish('lost');
  }

  /** The domain moved by somebody else's hand (a user's wish): its deadlines are ours to keep. */
  noticed(state: SessionState): void {
    if (!this.#ended.signal.aborted) this.#followUp(state);
  }

  async #endProcess(): Promise<void> {
    const live = this.#live;
    if (live === undefined) return;
    await live.end();
    await this.#ports.processes.forget(this.#own.session);
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => this.#ports.clock.at(this.#ports.clock.now() + ms, resolve));
  }

  /** Work beside the command loop: a failure ends this session's owner, never the process. */
  async #guard(work: Promise<void> | undefined): Promise<void> {
    try {
      await work;
    } catch (cause) {
      this.#ports.report(`session ${this.#own.session}: its owner failed`, cause);
      this.#finish('lost');
    }
  }

  #state(): SessionState | undefined {
    return this.#ports.store.known(this.#own.session);
  }

  #turnName(): { readonly agent: string; readonly callId: string } {
    return { agent: this.#entry.name, callId: `turn-${this.#turn}` };
  }

  #from(): Speaker {
    assert(this.#live !== undefined, 'a report about an agent needs an incarnation');
    return from(this.#own, this.#live);
  }
}

function from(own: Ownership, live: AgentLink): Speaker {
  return { epoch: own.fence.epoch, incarnation: live.incarnation };
}
