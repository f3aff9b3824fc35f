import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { type CapabilityHandlers, NoAnswer, type Prompt, type Turn } from '@concerto/agent-kit';
import { type Json, type JsonObject, unreachable } from '@concerto/base';
import type { ClaudeMessage, ClaudeQuestion } from '@concerto/protocol';
import { ClaudeError, ClaudeProcess } from './claude-process.ts';
import { commandLine, type Params } from './params.ts';
import { type Bill, type End, type Meaning, Translator } from './translate.ts';

/** For an interrupt to be obeyed; then the process is ended and the conversation goes on in a new one. */
const interruptWithinMs = 5_000;

type Running = {
  readonly turn: Turn;
  /** Messages that steer, by id, and that the program has not taken up yet: its work is not done before. */
  readonly steered: Map<string, string>;
  /** Earlier parts of a turn that was steered into several. */
  readonly bills: Bill[];
  readonly finish: (end: End) => void;
  readonly fail: (error: Error) => void;
  readonly over: Promise<void>;
};

/** Claude Code as an agent: one conversation, prompt by prompt. */
export class ClaudeAgent {
  readonly #params: Params;
  #process: ClaudeProcess | undefined;
  #translator = new Translator();
  #running: Running | undefined;
  #sessionId: string | undefined;
  /** The program bills its whole run. */
  #paid = 0;
  /** Messages that came too late for their turn; they go with the next prompt. */
  #late: string[] = [];
  /** Requests that the program still waits for. */
  readonly #open = new Set<string>();

  constructor(params: Params) {
    this.#params = params;
  }

  readonly handlers: CapabilityHandlers = {
    steer: (text) => this.#steer(text),
    interrupt: () => this.#interrupt(),
    cancel: async () => {
      await this.#interrupt();
      await this.end();
    },
  };

  /** So that a program that is missing is known before the first prompt. */
  async start(): Promise<ClaudeProcess> {
    if (this.#process !== undefined && !this.#process.isGone) return this.#process;
    const translator = new Translator();
    this.#translator = translator;
    this.#open.clear();
    this.#paid = 0;
    const { command = 'claude', work_dir = '.' } = this.#params;
    const started = await ClaudeProcess.start(command, commandLine(this.#params, this.#sessionId), {
      cwd: resolve(work_dir),
      listener: {
        // What a process that we have replaced still says is about a turn that is over.
        message: (message) => {
          if (this.#translator === translator) this.#read(message);
        },
        gone: (error) => {
          if (this.#translator === translator) this.#running?.fail(error);
        },
      },
    });
    started.send({ type: 'control_request', request_id: randomUUID(), request: { subtype: 'initialize' } });
    this.#process = started;
    return started;
  }

  async prompt(prompt: Prompt, turn: Turn): Promise<JsonObject> {
    const claude = await this.start();
    const ended = deferred<End>();
    const over = ended.promise.then(
      () => {},
      () => {},
    );
    const running: Running = {
      turn,
      steered: new Map(),
      bills: [],
      finish: ended.resolve,
      fail: ended.reject,
      over,
    };
    this.#running = running;
    const late = this.#late.splice(0);
    if (late.length > 0) turn.log(`passed on with this prompt, because the last turn was over: ${late.join(' | ')}`);
    claude.send(userMessage([...late, textOf(prompt)].join('\n\n')));
    if (claude.isGone) ended.reject(new ClaudeError('exited', 'claude ended before it was asked'));
    const end = await ended.promise.finally(() => {
      this.#running = undefined;
      this.#late.push(...running.steered.values());
    });
    if (!end.ok) throw new ClaudeError(end.code, end.message);
    return this.#answer(end.text, end.bill);
  }

  async end(): Promise<void> {
    await this.#process?.end();
  }

  #answer(text: string, bill: Bill): JsonObject {
    const cost = Math.max(0, bill.totalCost - this.#paid);
    this.#paid = bill.totalCost;
    return {
      text,
      usage: { input_tokens: bill.inputTokens, output_tokens: bill.outputTokens },
      cost_usd: cost,
      turns: bill.turns,
      ...(bill.denied.length === 0 ? {} : { denied: [...bill.denied] }),
      ...(this.#sessionId === undefined ? {} : { claude_session: this.#sessionId }),
    };
  }

  #read(message: ClaudeMessage): void {
    for (const meaning of this.#translator.read(message)) this.#act(meaning);
  }

  #act(meaning: Meaning): void {
    const running = this.#running;
    switch (meaning.kind) {
      case 'partial':
        running?.turn.partial(meaning.text);
        return;
      case 'progress':
        running?.turn.progress(meaning.message, { stage: meaning.stage });
        return;
      case 'log':
        running?.turn.log(meaning.message, meaning.level);
        return;
      case 'approval':
        void this.#decide(meaning.requestId, () => this.#approve(meaning));
        return;
      case 'questions':
        void this.#decide(meaning.requestId, () => this.#askAll(meaning));
        return;
      case 'unserved':
        this.#respond(meaning.requestId, { subtype: 'error', error: `cannot serve ${meaning.subtype}` });
        return;
      case 'withdrawn':
        this.#open.delete(meaning.requestId);
        return;
      case 'started':
        running?.steered.delete(meaning.steered);
        return;
      case 'session':
        this.#sessionId = meaning.sessionId;
        return;
      case 'ended':
        if (running !== undefined) finishOrGoOn(running, meaning.end);
        return;
      default:
        unreachable(meaning);
    }
  }

  async #decide(requestId: string, decide: () => Promise<JsonObject>): Promise<void> {
    this.#open.add(requestId);
    let decision: JsonObject;
    try {
      decision = await decide();
    } catch (error) {
      const why = error instanceof NoAnswer ? error.message : String(error);
      decision = { behavior: 'deny', message: `Nobody decided about this: ${why}` };
    }
    if (this.#open.delete(requestId)) this.#respond(requestId, { subtype: 'success', response: decision });
  }

  async #approve(request: Extract<Meaning, { kind: 'approval' }>): Promise<JsonObject> {
    const { description, riskLevel, tool, input } = request;
    const decision = await this.#running?.turn.decide(description, { riskLevel, tool, input });
    if (decision?.isApproved === true) return { behavior: 'allow', updatedInput: input };
    const reason = decision?.reason;
    const message =
      reason === undefined
        ? 'The supervisor refused this. Go on without it, or ask what to do instead.'
        : `The supervisor refused this: ${reason}`;
    return { behavior: 'deny', message };
  }

  async #askAll(request: Extract<Meaning, { kind: 'questions' }>): Promise<JsonObject> {
    const turn = this.#running?.turn;
    if (turn === undefined) throw new NoAnswer('the turn is over');
    const answers: Record<string, Json> = {};
    for (const question of request.questions) {
      answers[question.question] = answerText(await turn.ask(question.question, askOptions(question)));
    }
    return { behavior: 'allow', updatedInput: { ...request.input, answers } };
  }

  #respond(requestId: string, response: JsonObject): void {
    this.#process?.send({ type: 'control_response', response: { ...response, request_id: requestId } });
  }

  #steer(text: string): void {
    if (this.#running === undefined || this.#process === undefined) {
      this.#late.push(text);
      return;
    }
    const uuid = randomUUID();
    this.#running.steered.set(uuid, text);
    this.#process.send({ ...userMessage(text), uuid });
  }

  /** The turn has been stopped by the kit; here the program is. Done when it says that its turn has ended. */
  async #interrupt(): Promise<void> {
    const running = this.#running;
    const claude = this.#process;
    if (running === undefined || claude === undefined) return;
    // A message that still waits would start a turn of its own after the one we stop.
    if (running.steered.size > 0) return this.#drop(claude);
    claude.send({ type: 'control_request', request_id: randomUUID(), request: { subtype: 'interrupt' } });
    const late = setTimeout(() => void this.#drop(claude), interruptWithinMs);
    await running.over;
    clearTimeout(late);
  }

  async #drop(claude: ClaudeProcess): Promise<void> {
    claude.kill();
    await claude.end();
  }
}

/** A turn that was steered late ends once for what was asked first, and again for what came after. */
function finishOrGoOn(running: Running, end: End): void {
  if (end.ok && running.steered.size > 0) {
    running.bills.push(end.bill);
    return;
  }
  if (!end.ok) return running.finish(end);
  const sum = (pick: (bill: Bill) => number): number =>
    running.bills.reduce((n, bill) => n + pick(bill), pick(end.bill));
  running.finish({
    ...end,
    bill: {
      ...end.bill,
      inputTokens: sum((bill) => bill.inputTokens),
      outputTokens: sum((bill) => bill.outputTokens),
      turns: sum((bill) => bill.turns),
      denied: [...running.bills, end.bill].flatMap((bill) => bill.denied),
    },
  });
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: Error) => void } {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((settle, fail) => {
    resolve = settle;
    reject = fail;
  });
  return { promise, resolve, reject };
}

function userMessage(content: string): JsonObject {
  return { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' };
}

function textOf({ text, context }: Prompt): string {
  if (context === undefined || context === null) return text;
  return `${text}\n\nContext:\n${typeof context === 'string' ? context : JSON.stringify(context, undefined, 2)}`;
}

function askOptions({ header, options = [], multiSelect }: ClaudeQuestion): { options?: string[]; context?: string } {
  const described = options.filter((option) => option.description !== undefined && option.description !== '');
  const lines = [
    ...(header === undefined ? [] : [header]),
    ...described.map((option) => `${option.label}: ${option.description ?? ''}`),
    ...(multiSelect === true ? ['More than one may be chosen.'] : []),
  ];
  return {
    ...(options.length === 0 ? {} : { options: options.map((option) => option.label) }),
    ...(lines.length === 0 ? {} : { context: lines.join('\n') }),
  };
}

/** The program takes one text for each question; several choices are joined. */
function answerText(answer: Json): string {
  if (typeof answer === 'string') return answer;
  if (Array.isArray(answer)) return answer.map(answerText).join(', ');
  return JSON.stringify(answer);
}
