import { AgentError, type AgentPrompt, type AgentVerb } from '@concerto/agents';
import { assert, ok } from '@concerto/base';
import { SUPERVISED } from '@concerto/ir';
import { LogError } from '@concerto/log';
import { runningPrompt } from '@concerto/session';
import { SupervisedSession } from '../answer/supervised-session.ts';
import { ChildAgent } from '../children/child-agent.ts';
import { ChildSessions } from '../children/child-sessions.ts';
import { ChildrenBudget } from '../children/children-budget.ts';
import { untilHeld } from '../children/until-held.ts';
import { MessageQueue } from '../message-queue.ts';
import { ownMachines } from '../program/machine/own-machine.ts';
import type { LeftAgent } from '../program/program-agent.ts';
import { defaultLimits, type ProgramLimits } from '../program/program-limits.ts';
import { type ProgramWorld, type Rests, type Waiting, WorldFailure } from '../program/program-world.ts';
import { runProgram } from '../program/run-program.ts';
import { within } from '../within.ts';
import type { StartWorker, Worker, WorkerAnswer, WorkerControl, WorkerOutput } from '../worker.ts';
import { openJournal } from './open-journal.ts';
import { ProgramAsks } from './program-asks.ts';
import { ModelCalls } from './program-calls.ts';
import { ProgramPlace } from './program-place.ts';
import { askOfSession, declaredAs, entryOf, supervisesOf } from './program-sessions.ts';
import type { ProgramPorts, ProgramStart } from './program-start.ts';
import { failureText, type ProgramWord, queued, resultOf } from './program-words.ts';
import { RunWords } from './run-words.ts';

/** Words that the log does not have yet; then the program waits for it. */
const wordsAheadMax = 1_000;

/** So long it has only waited when it is put away; one that goes on sooner by itself is not. */
const restAfterMs = 3_000;

/** So long a pause waits for the program's agents to hold; they go on holding after it. */
const childrenHoldMs = 15_000;

/** Runs a program in a session. What it runs stays as it was when it first ran, whatever became of the files. */
export function programStarter(ports: ProgramPorts): StartWorker {
  return async ({ tenure, entry, writer }) => {
    assert(entry.kind === 'program', 'the table of starters is by kind');
    const { session, epoch } = tenure;
    const state = await ports.store.state(session);
    const { version } = state ?? {};
    const kept = version === undefined ? undefined : await ports.code.get(version);
    const loaded = kept === undefined ? await entry.load() : ok(kept);
    if (!loaded.ok) throw new AgentError('spawn-failed', loaded.error);
    const program = loaded.value;
    const code = kept === undefined || version === undefined ? await ports.code.keep(program) : version;
    const prompt = state === undefined ? undefined : runningPrompt(state);
    const cutShort = prompt === undefined ? undefined : { id: prompt.id, text: prompt.content };
    const run = { session, root: state?.root ?? session, code, writer, epoch };
    const isToHold = state?.control?.kind === 'pause';
    const supervises = supervisesOf(entry.name, state);
    // Beside a session that it answers for nobody stands.
    const terminal = supervises === undefined ? entry.terminal : undefined;
    return new ProgramWorker({
      name: entry.name,
      tenure,
      program,
      ports,
      cutShort,
      isToHold,
      supervises,
      terminal,
      ...run,
    });
  };
}

/**
 * A Concerto program at work in a session. Its emits are messages, `await emit` is a question, its end is the result; its
 * agents are sessions that it opens. Each prompt runs it once from the beginning; a run that an owner had to leave goes on
 * with the next one.
 */
class ProgramWorker implements Worker {
  readonly capabilities: ReadonlySet<string> = new Set(['interrupt', 'cancel', 'pause', 'resume']);
  readonly version: string;
  readonly output = new MessageQueue<WorkerOutput>();
  readonly #start: ProgramStart;
  readonly #limits: ProgramLimits;
  readonly #asks: ProgramAsks;
  readonly #agents = new Set<ChildAgent>();
  readonly #models = new ModelCalls(
    (output) => this.#push(output),
    (callId) => this.#start.writer.showsCall(callId),
  );
  #children: ChildSessions | undefined;
  #budget: ChildrenBudget | undefined;
  #held: { readonly until: Promise<void>; readonly goOn: () => void } | undefined;
  #running = new AbortController();
  #finished: Promise<void> = Promise.resolve();
  #isDetached = false;
  #isGone = false;
  /** What it waits for, while it does. */
  #waiting: Waiting | undefined;
  #stayUp: () => void = () => {};

  constructor(start: ProgramStart) {
    this.version = start.code;
    this.#limits = { ...defaultLimits, ...start.program.limits };
    this.#start = start;
    this.#asks = new ProgramAsks({
      ...start,
      push: (output) => this.#push(output),
      written: () => this.output.read(),
      isLeft: () => this.#isDetached,
    });
    start.tenure.onLost(() => this.#leave());
    // It is asked for it in a moment; by then its agents would go on.
    if (start.isToHold) this.#hold();
    if (start.cutShort !== undefined) this.#begin(start.cutShort);
  }

  async prompt(prompt: AgentPrompt): Promise<void> {
    this.#begin(prompt);
  }

  #begin(prompt: AgentPrompt): void {
    this.#running = new AbortController();
    const { session, root, code, ports, writer, epoch } = this.#start;
    const actor = `program:${session}`;
    const run = { session, root, code, actor, run: prompt.id ?? 'run', writer, epoch };
    const children = new ChildSessions(ports, { ...run, childrenMax: this.#limits.children });
    this.#children = children;
    this.#budget?.close();
    const { clock, log, store } = ports;
    this.#budget = new ChildrenBudget({
      clock,
      log,
      store,
      writer,
      session,
      epoch,
      written: () => this.output.read(),
      hold: () => this.#hold(),
    });
    this.#finished = this.#run(prompt, children, this.#running.signal).catch((cause: unknown) => {
      // Our own store failed, not the program: the next owner goes on with it.
      if (cause instanceof LogError) this.#start.tenure.fail(cause);
      else this.#fail(cause instanceof Error ? cause.message : String(cause));
    });
  }

  async answer(answer: WorkerAnswer): Promise<void> {
    const give = this.#asks.answeredBy(answer);
    if (give === undefined) return;
    // It is at work from now on, though it has not moved yet: put away, nobody would call it for what it has.
    this.#waits(undefined);
    give();
  }

  async steer(): Promise<never> {
    throw new AgentError('not-announced', `program "${this.#start.name}" cannot be steered`);
  }

  control({ verb, id, force = false }: WorkerControl): 'asked' | 'holds' {
    if (force && verb === 'resume') this.#goOn();
    // It holds where it is since it was asked to pause.
    if (force && verb === 'pause') return 'holds';
    void this.#controlled(verb, id).then(
      () => {
        if (!force || verb === 'resume') this.#sayPlainly({ type: 'ack', in_reply_to: verb, in_reply_to_id: id });
      },
      // The store is away: nothing is confirmed, and whoever asked goes on to force.
      () => undefined,
    );
    return 'asked';
  }

  async #controlled(verb: AgentVerb, id: string): Promise<void> {
    switch (verb) {
      case 'pause':
        return await this.#pause(id);
      case 'resume':
        return this.#goOn();
      case 'interrupt':
      case 'cancel':
        return await this.#stopRunning();
    }
  }

  /** A run that is not over is only left: whoever owns the session next goes on with it. */
  async stop(): Promise<void> {
    const state = this.#isDetached ? undefined : await this.#start.ports.store.state(this.#start.session);
    if (state !== undefined && state.end === undefined && state.turn.active) this.#leave();
    this.#stayUp();
    await this.#stopRunning();
    if (this.#isGone) return;
    this.#isGone = true;
    this.output.push({ kind: 'gone', error: { code: 'exited', message: `program "${this.#start.name}" was ended` } });
    this.output.end();
  }

  /** Its agents go on, and whoever has the session next goes on with the run. */
  #leave(): void {
    this.#isDetached = true;
    for (const agent of this.#agents) agent.detach();
    void this.#stopRunning();
  }

  /** Its agents first, then itself: it holds at once, but whoever paused it waits for all of them. */
  async #pause(id: string): Promise<void> {
    this.#hold();
    const children = this.#children;
    if (children === undefined) return;
    const agents = await children.live();
    await Promise.all(agents.map((agent) => children.passOn(agent, 'pause', id)));
    const held = Promise.all(agents.map((agent) => untilHeld(children, agent)));
    await within(this.#start.ports.clock, childrenHoldMs, held);
  }

  #hold(): void {
    if (this.#held !== undefined) return;
    let goOn = (): void => {};
    const until = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    this.#held = { until, goOn };
  }

  #goOn(): void {
    this.#letGo();
    // One whose store fails for long is found by whoever has the session next.
    for (const agent of this.#agents) void agent.goOn().catch(() => undefined);
  }

  #letGo(): void {
    this.#held?.goOn();
    this.#held = undefined;
  }

  async #stopRunning(): Promise<void> {
    this.#running.abort();
    this.#budget?.close();
    this.#letGo();
    await this.#finished;
  }

  async #run(prompt: AgentPrompt, children: ChildSessions, signal: AbortSignal): Promise<void> {
    const { program, ports, writer, session, terminal } = this.#start;
    const turn = (await ports.store.state(session))?.turn.number ?? 0;
    const place = new ProgramPlace(ports.clock, turn, (output) => this.#push(output));
    const run = prompt.id ?? 'run';
    const words = await RunWords.open({ log: ports.log, session, run, echo: terminal }, (output) => this.#push(output));
    const world = { ...this.#world(prompt, children, words), stands: place.stands.bind(place) };
    if (terminal?.runs !== undefined) return await terminal.runs(world, signal);
    const written = (): Promise<void> => this.output.read();
    const { steps, memory, depth, size, at_once: fibers, stream, slice: sliceMs } = this.#limits;
    const limits = { steps, memory, depth, size, fibers };
    const of = { log: ports.log, writer, session, run, written, bytesMax: stream };
    const { environment } = world;
    const now = (): number => ports.clock.now();
    const { onTurn, onReplayed } = words;
    const given = { digest: this.version, environment, now, onTurn, onReplayed };
    const journal =
      terminal?.instead === undefined ? await openJournal(program.module, of, given) : terminal.instead.journal;
    const entry = entryOf(program.module, this.#start.supervises);
    const { machines = ownMachines } = ports;
    const outcome = await runProgram(program.module, world, { entry, signal, journal, limits, sliceMs, machines });
    place.end();
    if (!this.#isDetached) await children.finishAll();
    if (signal.aborted) return;
    terminal?.ended(outcome);
    if (outcome.status === 'failed') return this.#fail(failureText(outcome.failure));
    if (outcome.isError) return this.#fail(outcome.value.shown);
    this.#sayPlainly({ ...resultOf(outcome.value), type: 'result' });
  }

  #world(prompt: AgentPrompt, children: ChildSessions, { emit, print, log }: RunWords): ProgramWorld {
    const { program, terminal } = this.#start;
    const { projectDirectory, directory = projectDirectory, mockModels = false } = program;
    return {
      emit,
      print,
      log,
      ready: async () => {
        if (this.output.size > wordsAheadMax) await this.output.read();
        await terminal?.ready();
      },
      flush: () => terminal?.flush(),
      ask: (channel, payload, signal, request) => {
        const id = children.idOf('req', `ask-${request}`);
        return this.#asks.ask(children, { id, channel, payload }, signal);
      },
      watch: (request, answer) => this.#models.watch(request, answer),
      held: () => {
        const settled = this.#budget?.settle();
        return settled === undefined ? this.#held?.until : settled.then(() => this.#held?.until);
      },
      clock: this.#start.ports.clock,
      waits: (waiting) => this.#waits(waiting),
      session: async (request) => await askOfSession(children, request, this.#start.supervises),
      startAgent: async ({ name: agent }, { name, signal }) => {
        if (agent === SUPERVISED) return this.#supervised(children);
        if (this.#isDetached) throw new WorldFailure('cancelled', 'the program is left to another owner');
        const child = this.#childOf(children, { id: children.idOf('s', name), agent, call: name });
        await child.start(signal);
        // One that had to wait for a place is prompted when the program goes on.
        await this.#held?.until;
        return child;
      },
      agentsLeft: (calls) => this.#agentsLeft(children, calls),
      // Who stands beside it has said what there is to say by its variables.
      environment: terminal === undefined ? { ...process.env, CONCERTO_PROMPT: prompt.text } : process.env,
      directory,
      projectDirectory,
      mockModels,
    };
  }

  get rests(): Rests | undefined {
    const stays = this.#held !== undefined || this.#isGone || this.#start.terminal !== undefined;
    return stays ? undefined : this.#waiting?.rests;
  }

  #waits(waiting: Waiting | undefined): void {
    this.#waiting = waiting;
    this.#mayRest();
  }

  #mayRest(): void {
    this.#stayUp();
    this.#stayUp = () => {};
    const rests = this.#waiting?.rests;
    const { clock } = this.#start.ports;
    const now = clock.now();
    if (rests === undefined || (rests.until ?? Number.POSITIVE_INFINITY) < now + 2 * restAfterMs) return;
    this.#stayUp = clock.at(now + restAfterMs, () => this.#push({ kind: 'rests' }));
  }

  #childOf(
    children: ChildSessions,
    child: { readonly id: string; readonly agent: string; readonly call: string },
  ): ChildAgent {
    const { id, agent, call } = child;
    const { program, ports, terminal } = this.#start;
    const opened: ChildAgent = new ChildAgent({
      children,
      id,
      agent,
      declared: declaredAs(program.module, ports.catalog, agent),
      peopleAnswer: terminal === undefined,
      forgets: terminal?.instead !== undefined,
      written: () => this.output.read(),
      onWaits: () => this.#mayRest(),
      onClosed: () => this.#agents.delete(opened),
      programAsks: () => this.#waiting?.asks === true,
      programHolds: () => this.#held !== undefined,
      onQueued: () => {
        this.#push(queued(call, agent));
        terminal?.log('info', `${agent} waits for a place in the pool`);
      },
    });
    this.#agents.add(opened);
    return opened;
  }

  #supervised(children: ChildSessions): SupervisedSession {
    const { supervises } = this.#start;
    if (supervises === undefined) throw new WorldFailure('spawn', 'nobody asked this program to supervise a session');
    const written = (): Promise<void> => this.output.read();
    return new SupervisedSession({ children, session: supervises.session, name: supervises.as, written });
  }

  /**
   * Those that an earlier owner had opened, and that are not over, or ended in an open call: it must hear how. The session
   * that it supervises goes on by itself.
   */
  async #agentsLeft(children: ChildSessions, calls: readonly string[]): Promise<readonly LeftAgent[]> {
    const own = await children.stateOf(this.#start.session);
    const left: LeftAgent[] =
      this.#start.supervises === undefined ? [] : [{ name: SUPERVISED, agent: this.#supervised(children) }];
    for (const id of await children.concerned([...(own?.children ?? [])], calls)) {
      const state = await children.stateOf(id);
      if (state === undefined) continue;
      if (this.#isDetached) break;
      const agent = this.#childOf(children, { id, agent: state.agent, call: id });
      if (await agent.attach()) left.push({ name: state.agent, agent });
    }
    return left;
  }

  #fail(message: string): void {
    this.#sayPlainly({ type: 'error', message });
  }

  #sayPlainly(message: ProgramWord['message'] & ProgramWord['raw']): void {
    this.#push({ kind: 'message', message, raw: message });
  }

  #push(output: WorkerOutput): void {
    if (!this.#isGone) this.output.push(output);
  }
}
