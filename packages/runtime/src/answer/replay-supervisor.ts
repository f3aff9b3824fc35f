import type { Json } from '@concerto/base';
import { type IrModule, SUPERVISED } from '@concerto/ir';
import { addUsage, type PublicEvent, type SuspendEvent, type Usage } from '@concerto/protocol';
import { isRequest, type ReplayedAnswer } from '@concerto/rules';
import { entryOf } from '../conducting/program-sessions.ts';
import { failureText } from '../conducting/program-words.ts';
import type { Machines, ProgramRequest } from '../program/machine/machine.ts';
import type { AgentHearer, ProgramAgent, ProgramAgentOutput, ProgramCall } from '../program/program-agent.ts';
import { defaultLimits } from '../program/program-limits.ts';
import { type ProgramWorld, WorldFailure } from '../program/program-world.ts';
import { runProgram } from '../program/run-program.ts';
import { questionOf, wordOf } from './session-words.ts';
import { answerIn, textIn } from './supervised-session.ts';

/** A session as it was. */
export type PastSession = {
  readonly id: string;
  readonly events: readonly PublicEvent[];
  /** The requests that come to the supervisor; others were decided before it. */
  readonly asked: ReadonlySet<string>;
};

export type ReplayOptions = Pick<ProgramWorld, 'environment' | 'directory' | 'projectDirectory'> & {
  /** Of the supervisor. */
  readonly name: string;
  /** For an answer to one request. */
  readonly withinMs?: number;
  /** What it was not asked by then is left to the next. */
  readonly signal?: AbortSignal;
  /** Where it is run; in this thread unless given. */
  readonly machines?: Machines | undefined;
};

/** Waiting is done in real time, so there is not much of it. */
const answerWithinMs = 10_000;
const endWithinMs = 2_000;

/**
 * What a supervisor would have answered in a session that is past. It hears all of it, and touches nothing: no model is asked, nothing
 * is written, sent, started or steered; a handler that needs such a thing fails, and passes.
 */
export async function replaySupervisor(
  module: IrModule,
  past: PastSession,
  options: ReplayOptions,
): Promise<ReadonlyMap<string, ReplayedAnswer>> {
  const { name, withinMs = answerWithinMs, signal, machines, ...places } = options;
  const stop = new AbortController();
  const recorded = new RecordedSession(past, withinMs);
  const world: ProgramWorld = {
    ...places,
    mockModels: true,
    emit: () => {},
    print: () => {},
    log: () => {},
    ask: async () => null,
    refuses: whyNot,
    session: async ({ verb }) => recorded.about(verb),
    startAgent: async ({ name: agent }) => {
      if (agent !== SUPERVISED) throw new WorldFailure('refused', `agent ${agent} is not started in a replay`);
      return recorded;
    },
  };
  const entry = entryOf(module, { session: past.id, name, as: `supervisor:${name}` });
  const { steps, memory, depth, size, at_once: fibers } = defaultLimits;
  const limits = { steps, memory, depth, size, fibers };
  const run = runProgram(module, world, { entry, limits, signal: stop.signal, machines });
  const ended = run.then((outcome) => {
    recorded.left(outcome.status === 'failed' ? failureText(outcome.failure) : 'it does not listen any more');
  });
  // It is thrown below; until then nobody would be asked any more, and nobody be told.
  ended.catch(() => recorded.left('it could not be run'));
  const onAbort = (): void => recorded.left('there was no time left for it');
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  await recorded.over;
  signal?.removeEventListener('abort', onAbort);
  const late = setTimeout(() => stop.abort(), endWithinMs);
  await ended;
  clearTimeout(late);
  return recorded.answers;
}

/** Reading touches nothing. */
function whyNot(request: ProgramRequest): string | undefined {
  switch (request.kind) {
    case 'model':
    case 'model_next':
      return 'a model is asked, which a replay does not do';
    case 'mcp_call':
    case 'mcp_tools':
      return `the server ${request.server} is called, which a replay does not do`;
    case 'http':
      return `${request.url} is called, which a replay does not do`;
    case 'file':
      return isOutward(request.op) ? `${request.path} is changed, which a replay does not do` : undefined;
    default:
      return undefined;
  }
}

function isOutward(op: string): boolean {
  return op === 'write' || op === 'append' || op === 'replace' || op === 'remove';
}

/** Says what the session said, and waits at each request for what the supervisor makes of it. */
class RecordedSession implements ProgramAgent {
  readonly capabilities = [];
  readonly version = undefined;
  /** Resolves when all of it was told, or nobody listens any more. */
  readonly over: Promise<void>;
  readonly answers = new Map<string, ReplayedAnswer>();
  readonly #past: PastSession;
  readonly #withinMs: number;
  #usage: Usage = { inputTokens: 0, outputTokens: 0 };
  #waiting: { readonly id: string; readonly settle: () => void } | undefined;
  #isOver = false;
  #isTelling = false;
  #end: () => void = () => {};
  #hearer: AgentHearer | undefined;

  constructor(past: PastSession, withinMs: number) {
    this.#past = past;
    this.#withinMs = withinMs;
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  heardBy(hearer: AgentHearer): void {
    this.#hearer = hearer;
  }

  /** Its time is that of the session, which is past. */
  isHeld(): boolean {
    return true;
  }

  onlyWaits(): undefined {
    return undefined;
  }

  knows(): boolean {
    return false;
  }

  async takeUp(): Promise<void> {}

  async prompt(_prompt: unknown, { wants = [] }: ProgramCall): Promise<void> {
    if (this.#isTelling) return;
    this.#isTelling = true;
    void this.#tell(new Set(wants)).finally(() => this.#end());
  }

  async replyLine(line: string): Promise<void> {
    const reply: { in_reply_to_id?: string; value?: Json; error?: Json; passed?: boolean } = JSON.parse(line);
    const id = reply.in_reply_to_id ?? '';
    const event = this.#past.events.find((one) => 'requestId' in one && one.requestId === id);
    if (this.#waiting?.id !== id || event === undefined || !isRequest(event)) return;
    if (reply.error !== undefined) this.#settle(id, { kind: 'passed', reason: textIn(reply.error) });
    else if (reply.passed === true) this.#settle(id, { kind: 'passed', reason: 'it passes' });
    else this.#settle(id, { kind: 'answer', ...answerIn(reply.value ?? null, event) });
  }

  async end(): Promise<void> {
    this.left('it does not listen any more');
  }

  /** What it was not asked is left to the next. */
  left(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const id of this.#past.asked) if (!this.answers.has(id)) this.answers.set(id, { kind: 'passed', reason });
    this.#waiting?.settle();
    this.#end();
  }

  about(verb: string): Json {
    if (verb === 'id') return this.#past.id;
    if (verb === 'status') return 'running';
    if (verb !== 'usage') return null;
    return { input_tokens: this.#usage.inputTokens, output_tokens: this.#usage.outputTokens };
  }

  async #tell(wants: ReadonlySet<string>): Promise<void> {
    for (const [index, event] of this.#past.events.entries()) {
      if (this.#isOver) return;
      if (event.type === 'usage') this.#usage = addUsage(this.#usage, event);
      if (isRequest(event) && this.#past.asked.has(event.requestId)) await this.#ask(event, index + 1);
      const word = wordOf(event);
      if (word !== undefined && (wants.has(word.type) || wants.has('_'))) {
        this.#say({ kind: 'message', raw: word, place: index + 1 });
      }
    }
    const place = this.#past.events.length + 1;
    this.#say({ kind: 'message', raw: { type: 'result', status: 'ended' }, place });
  }

  async #ask(event: SuspendEvent, place: number): Promise<void> {
    const id = event.requestId;
    await new Promise<void>((resolve) => {
      const reason = `it did not answer within ${this.#withinMs / 1000} s`;
      const late = setTimeout(() => {
        this.#settle(id, { kind: 'passed', reason });
        // Its handler is ended, as by somebody who answers first.
        this.#say({ kind: 'overtaken', type: questionOf(event).type, id, by: 'person' });
      }, this.#withinMs);
      const settle = (): void => {
        clearTimeout(late);
        resolve();
      };
      this.#waiting = { id, settle };
      this.#say({ kind: 'message', raw: questionOf(event), place });
    });
  }

  #say(output: ProgramAgentOutput): void {
    this.#hearer?.hear(output);
  }

  #settle(id: string, answer: ReplayedAnswer): void {
    if (!this.answers.has(id)) this.answers.set(id, answer);
    if (this.#waiting?.id === id) this.#waiting.settle();
  }
}
