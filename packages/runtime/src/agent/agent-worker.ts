import type {
  AgentConnection,
  AgentOutput,
  AgentPrompt,
  AgentReply,
  AgentSettings,
  AgentSpec,
  AgentSteer,
  Placed,
  ProcessIdentity,
} from '@concerto/agents';
import { AgentError, acceptedTypes, exitText, sandboxAbout } from '@concerto/agents';
import { assert, type Json } from '@concerto/base';
import { Blobs, type EventLog } from '@concerto/log';
import { type AgentSandbox, type Part, textOf } from '@concerto/protocol';
import type { SessionState } from '@concerto/session';
import { folderOf } from '../answer/request-risk.ts';
import { givenAnswer, givenParts } from '../contents/given-parts.ts';
import type { WorkerJournal } from '../owner/worker-journal.ts';
import type { Clock, Environment, StartAgent } from '../ports.ts';
import { sessionError } from '../session/session-error.ts';
import type { SessionStore } from '../session/session-store.ts';
import { specOfSession } from '../start/session-settings.ts';
import { within } from '../within.ts';
import type { KeptWorker, StartWorker, Worker, WorkerAnswer, WorkerControl, WorkerOutput } from '../worker.ts';
import { conversationOf, spentBy } from './agent-conversation.ts';
import { type KeepsAgents, keptName } from './kept-agents.ts';
import type { OwnProcessNotes } from './process-register.ts';

/** So long a new process that has said nothing may still announce what it can: signalled before, it could not. */
const announceWithinMs = 1_000;

/** From SIGTERM to SIGKILL, of one that is cancelled at its work. */
const terminateMs = 5_000;

export type AgentWorkerPorts = {
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly startAgent: StartAgent;
  /** Agents that are started through it outlive us; without one they end with us. */
  readonly keeper?: KeepsAgents | undefined;
  /** Where secrets are looked up; our own variables unless given. */
  readonly environment?: Environment;
};

/** Starts the agent of a session as a process of its own, or takes up the one that a keeper held. */
export function agentStarter(ports: AgentWorkerPorts): StartWorker {
  const { log, store, clock, startAgent, keeper, environment = process.env } = ports;
  return async ({ tenure: { session, epoch }, entry, incarnation, held, journal, notes, ended, left }) => {
    assert(entry.kind === 'agent', 'the table of starters is by kind');
    const { spec, fault, initTimeoutMs } = entry;
    if (fault !== undefined) throw new AgentError('spawn-failed', fault);
    const name = keptName(session, incarnation);
    const kept = held ?? keeper?.begin(name, epoch);
    const leave = (): void => kept?.current?.detach();
    left.addEventListener('abort', leave, { once: true });
    let noted: ProcessIdentity | undefined;
    try {
      const state = await store.state(session);
      // An agent of our own wire keeps its conversation itself.
      const conversation = isForeign(spec) ? await conversationOf(log, session) : undefined;
      const connection = await startAgent(specOfSession(spec, state, environment), {
        ...(kept === undefined ? {} : { kept }),
        signal: AbortSignal.any([ended, left]),
        ...(initTimeoutMs === undefined ? {} : { initTimeoutMs }),
        ...goingOn(conversation, state),
        onProcess: async (identity) => {
          noted = identity;
          await notes.remember(identity);
        },
        onStderr: (text) => journal?.stderr(text),
      });
      const sandbox = await sandboxAbout(connection.spec.sandbox);
      return new AgentWorker(connection, { name, notes, log, clock, sandbox, journal });
    } catch (cause) {
      if (noted !== undefined && !left.aborted) await notes.forget(noted);
      throw cause;
    } finally {
      left.removeEventListener('abort', leave);
    }
  };
}

/** Its own conversation, or, until it has one, the place in another one where it begins. */
function goingOn(conversation: string | undefined, state: SessionState | undefined) {
  if (conversation !== undefined) return { conversation, ...spentBy(state) };
  const place = state?.forkOf?.conversation;
  return place === undefined ? {} : { fork: place };
}

type AgentPlace = {
  readonly name: string;
  readonly notes: OwnProcessNotes;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly sandbox: AgentSandbox;
  readonly journal: WorkerJournal | undefined;
};

/** An agent's process at work: the only place of a session that knows of pipes, signals and exits. */
class AgentWorker implements Worker {
  readonly output: AsyncIterable<readonly WorkerOutput[]>;
  readonly folder: string | undefined;
  readonly kept: KeptWorker | undefined;
  readonly sandbox: AgentSandbox;
  readonly #connection: AgentConnection;
  readonly #notes: OwnProcessNotes;
  readonly #journal: WorkerJournal | undefined;
  readonly #blobs: Blobs;
  #forgotten: Promise<void> | undefined;
  /** Aborted when the agent has ended its turn: then nothing more is done to its process. */
  #turnSettled: AbortController | undefined;
  /** Settled by its first word, or when it has been silent for so long that none is to be expected. */
  readonly #introduced: Promise<void>;
  #introduce: () => void = () => {};

  constructor(connection: AgentConnection, { name, notes, log, clock, sandbox, journal }: AgentPlace) {
    this.#connection = connection;
    this.sandbox = sandbox;
    this.#notes = notes;
    this.#journal = journal;
    this.#blobs = new Blobs(log, () => clock.now());
    this.folder = folderOf(connection.spec);
    this.output = this.#said();
    const spoke = new Promise<void>((resolve) => {
      this.#introduce = resolve;
    });
    this.#introduced = within(clock, announceWithinMs, spoke);
    const { kept } = connection;
    if (kept === undefined) return;
    const leave = (): string => {
      kept.detach();
      return name;
    };
    this.kept = { marks: kept.marks, takenUp: kept.takenUp, idAt: kept.idAt, forget: kept.forget, leave };
  }

  get capabilities(): ReadonlySet<string> {
    return this.#connection.capabilities;
  }

  get announced(): readonly string[] | undefined {
    return this.#connection.announced;
  }

  get version(): string | undefined {
    return this.#connection.version;
  }

  async prompt(prompt: AgentPrompt, mark: string): Promise<void> {
    const given = prompt.parts === undefined ? prompt : await this.#withBytes(prompt, prompt.parts);
    this.#mark(mark);
    await this.#connection.prompt(given);
  }

  async steer(steer: AgentSteer, mark: string): Promise<'heard' | 'taken'> {
    const given = steer.parts === undefined ? steer : await this.#withBytes(steer, steer.parts);
    this.#mark(mark);
    await this.#connection.steer(given);
    return isForeign(this.#connection.spec) ? 'heard' : 'taken';
  }

  /** With the bytes of its files; the text is then what stands between them. */
  async #withBytes<Said extends AgentSteer | AgentPrompt>(said: Said, parts: readonly Part[]): Promise<Said> {
    const { spec, capabilities } = this.#connection;
    // What those take is known only now.
    const accepts = spec.protocol === 'acp' ? acceptedTypes(spec, [...capabilities]) : undefined;
    const given = await givenParts(parts, this.#blobs, accepts);
    return { ...said, text: textOf({ parts: [...parts] }), parts: given };
  }

  async answer(given: WorkerAnswer, mark: string): Promise<void> {
    const value = 'value' in given ? givenAnswer(given.value, this.#blobs) : null;
    // Only files have to be read: an agent that waits waits for nothing else.
    const answer = 'value' in given ? { ...given, value: value instanceof Promise ? await value : value } : given;
    this.#mark(mark);
    const connection = this.#connection;
    const { line } = answer;
    if (line !== undefined && connection.replyLine !== undefined) return await connection.replyLine(line);
    if (!('inReplyTo' in answer)) return;
    const { line: _line, ...reply } = answer;
    const { inReplyTo, inReplyToId } = reply;
    const name = { inReplyTo, ...(inReplyToId === undefined ? {} : { inReplyToId }) };
    await connection.reply(line === undefined ? inItsWords(reply, connection.spec) : { ...name, ...replyOf(line) });
  }

  control({ verb, id, force = false }: WorkerControl): 'asked' | 'holds' {
    if (force && verb === 'interrupt') return this.#interrupt();
    if (force && verb === 'pause') {
      this.#connection.freeze();
      return 'holds';
    }
    if (force && verb === 'resume') this.#connection.thaw();
    if (announces(this.capabilities, verb)) {
      this.#connection.request(verb, id).catch(() => undefined);
      return 'asked';
    }
    if (verb === 'interrupt' || verb === 'cancel') void this.#signal(verb);
    // One that cannot pause is held at the end of the turn, which the turn's end confirms.
    return verb === 'resume' ? 'holds' : 'asked';
  }

  async configure(settings: AgentSettings): Promise<void> {
    if (this.#connection.configure === undefined) throw new Error('it cannot be switched while it runs');
    await this.#connection.configure(settings);
  }

  async stop({ now = false }: { readonly now?: boolean } = {}): Promise<void> {
    await this.#connection.end(now ? { stepMs: 0 } : {});
    await this.#forget();
  }

  async #forget(): Promise<void> {
    this.#forgotten ??= this.#notes.forget(this.#connection.identity);
    await this.#forgotten;
  }

  /** Not before it could introduce itself: one that announces the verb is asked for it once that is recorded. */
  async #signal(verb: 'interrupt' | 'cancel'): Promise<void> {
    await this.#introduced;
    if (announces(this.capabilities, verb)) return;
    if (verb === 'interrupt') this.#interrupt();
    // One in the middle of its work may not look at its stdin.
    else await this.#connection.end({ atWork: true, stepMs: terminateMs }).catch(() => undefined);
  }

  #interrupt(): 'asked' {
    this.#turnSettled = new AbortController();
    this.#connection.interruptProcess({ settled: this.#turnSettled.signal }).catch(() => undefined);
    return 'asked';
  }

  #mark(mark: string): void {
    this.#connection.kept?.mark(mark);
  }

  async *#said(): AsyncGenerator<readonly WorkerOutput[]> {
    for await (const batch of this.#connection.output) {
      this.#introduce();
      if (batch.some(endsTurn)) this.#turnSettled?.abort();
      const last = batch.at(-1);
      if (last?.kind === 'exit') {
        this.#journal?.exited(last.exit);
        await this.#forget();
      }
      yield batch.map((output) => inOurWords(output, this.#connection.spec.name));
    }
  }
}

function inOurWords(output: AgentOutput & Placed, agent: string): WorkerOutput {
  if (output.kind === 'violation') return { ...output, error: sessionError(output.error) };
  if (output.kind !== 'exit') return output;
  const { exit, at } = output;
  const error = sessionError(output.error, exit.stderr);
  // One that leaves with code 0 has done its work.
  const failure = exit.code === 0 ? {} : { failure: exitText(agent, exit) };
  return { kind: 'gone', error, ...failure, ...(at === undefined ? {} : { at }) };
}

function endsTurn(output: AgentOutput): boolean {
  if (output.kind === 'message') {
    return output.shown === undefined && (output.message.type === 'result' || output.message.type === 'error');
  }
  return output.kind === 'exit' || (output.kind === 'violation' && output.fatal);
}

/** A reason goes with a no: beside it on our own wire, within it where a driver puts it into its own words. */
function inItsWords(reply: AgentReply, spec: AgentSpec): AgentReply {
  if (!('value' in reply) || reply.reason === undefined || !isForeign(spec)) return reply;
  const { reason, ...rest } = reply;
  return { ...rest, value: { approved: false, reason } };
}

/** For a wire that is not ours: what a reply says that was written for ours. */
function replyOf(line: string): { readonly value: Json } | { readonly error: Json } {
  const reply: { readonly value?: Json; readonly error?: Json } = JSON.parse(line);
  return reply.error === undefined ? { value: reply.value ?? null } : { error: reply.error };
}

/** Whether a steer is as good as heard when it was taken, and conversations are ours to go on with. */
export function isForeign({ protocol = 'ndjson' }: Pick<AgentSpec, 'protocol'>): boolean {
  return protocol !== 'ndjson';
}

/** As the domain sees it: who cannot be told to go on is not told to stop. */
export function announces(capabilities: ReadonlySet<string>, verb: WorkerControl['verb']): boolean {
  return capabilities.has(verb) && (verb !== 'pause' || capabilities.has('resume'));
}
