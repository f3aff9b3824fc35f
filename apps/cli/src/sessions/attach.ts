import { createInterface, type Interface } from 'node:readline/promises';
import { harmless, harmlessJson, type Json } from '@concerto/base';
import type { ConcertoClient, FollowedEvent } from '@concerto/client';
import { type Choice, type SuspendEvent, textOf } from '@concerto/protocol';
import { paint } from '../terminal/paint.ts';
import { print } from '../terminal/print.ts';
import { Narration } from './narration.ts';

/**
 * Shows a session live and, on a terminal, answers its questions. Returns the exit code: 0 when the session went
 * well, 1 when it failed. Ctrl-C leaves the session running.
 */
export async function attach(client: ConcertoClient, id: string, options: { readonly json: boolean }): Promise<number> {
  const leave = new AbortController();
  process.once('SIGINT', () => leave.abort());
  const terminal =
    process.stdin.isTTY && !options.json
      ? createInterface({ input: process.stdin, output: process.stdout })
      : undefined;
  terminal?.setPrompt('');
  terminal?.on('SIGINT', () => leave.abort());
  // A line that no question took is the next message.
  terminal?.on('line', (line) => {
    const content = line.trim();
    if (content !== '') client.send(id, { content, priority: 'queued' }).catch(printRefusal);
  });
  const questions =
    terminal === undefined
      ? undefined
      : new Questions(terminal, (request, response) => client.answer(id, request, response));
  const say = (text: string): void => (questions === undefined ? print(text) : questions.printAbove(text));
  const narration = new Narration({
    print: say,
    write: (piece) => (questions?.isTyping === true ? say(piece) : process.stdout.write(piece)),
  });
  let failed = false;
  try {
    const onState = (state: { readonly kind: string }): void => {
      if (state.kind === 'waiting') process.stderr.write('concerto: the connection was lost; trying again …\n');
    };
    // The position first: a question that is asked between the two calls is then after it, or among the open ones.
    const head = (await client.get(id)).position;
    const open = new Set((await client.requests(id)).requests.map((request) => request.requestId));
    for await (const event of client.follow(id, { signal: leave.signal, onState })) {
      if (event.type === 'requestSettled') questions?.settled(event.requestId);
      if (options.json) say(harmlessJson(event));
      else narration.tell(event);
      if (event.type === 'error') failed = true;
      if (event.type === 'status' && event.status === 'idle' && event.seq >= head) {
        if (questions !== undefined) say(paint('dim', '  type the next message, or leave with Ctrl-C'));
        // Nobody can type the next message here.
        else if (!options.json && (await client.get(id)).pending === 0) break;
      }
      if (!isSuspend(event) || (event.seq <= head && !open.has(event.requestId))) continue;
      if (questions !== undefined) questions.ask(event);
      else if (!options.json)
        say(`  answer it: concerto sessions answer ${id} ${event.type === 'queryConsent' ? 'y|n|"why not"' : 'TEXT'}`);
    }
  } finally {
    await questions?.close();
    terminal?.close();
  }
  if (leave.signal.aborted && !options.json)
    print(`\nDetached; the session goes on. Back: concerto sessions attach ${id}`);
  return failed ? 1 : 0;
}

/**
 * Asks one question at a time while events go on. One that somebody else answers, or that is withdrawn, is taken
 * from the screen: nobody must type to get on.
 */
class Questions {
  readonly #terminal: Interface;
  readonly #answer: (requestId: string, response: Json) => Promise<void>;
  readonly #open = new Map<string, AbortController>();
  #last: Promise<void> = Promise.resolve();
  #isAsking = false;

  constructor(terminal: Interface, answer: (requestId: string, response: Json) => Promise<void>) {
    this.#terminal = terminal;
    this.#answer = answer;
  }

  /** Whether the last line of the screen is somebody's. */
  get isTyping(): boolean {
    return this.#isAsking || this.#terminal.line !== '';
  }

  ask(event: SuspendEvent): void {
    const over = new AbortController();
    this.#open.set(event.requestId, over);
    this.#last = this.#last.then(() => this.#askNow(event, over.signal));
  }

  settled(requestId: string): void {
    this.#open.get(requestId)?.abort();
    this.#open.delete(requestId);
  }

  async close(): Promise<void> {
    for (const over of this.#open.values()) over.abort();
    await this.#last;
  }

  /** What is being typed stays below. */
  printAbove(text: string): void {
    if (!this.isTyping) return print(text);
    process.stdout.write('\r\u001b[K');
    print(text);
    this.#terminal.prompt(true);
  }

  async #askNow(event: SuspendEvent, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#isAsking = true;
    const given = await this.#terminal
      .question(paint('bold', promptOf(event)), { signal })
      .catch(() => undefined)
      .finally(() => {
        this.#isAsking = false;
      });
    if (given === undefined) {
      process.stdout.write('\r\u001b[K');
      return;
    }
    try {
      await this.#answer(event.requestId, responseOf(event, given.trim()));
    } catch (cause) {
      // Somebody else was faster, it was withdrawn, or the server is away: the stream says how it goes on.
      printRefusal(cause);
    }
  }
}

function printRefusal(cause: unknown): void {
  print(paint('dim', `(${harmless(cause instanceof Error ? cause.message : String(cause))})`));
}

function promptOf(event: SuspendEvent): string {
  if (event.type === 'queryConsent') return 'approve? [y/n, or why not] ';
  if (event.type !== 'waitForChoice') return 'your answer: ';
  return event.selectionMode === 'multiple'
    ? 'your choices (numbers, with commas): '
    : 'your choice (number or text): ';
}

/** What a person typed, in the form that the question wants. */
export function responseOf(event: SuspendEvent, given: string): Json {
  if (event.type === 'queryConsent') {
    if (/^(y|yes|true|1)$/i.test(given)) return true;
    // Any other text is a no, and why.
    return /^(|n|no|false|0)$/i.test(given) ? false : given;
  }
  if (event.type === 'waitForChoice') {
    const words = event.selectionMode === 'multiple' ? given.split(',') : [given];
    const chosen = words.map((word) => choiceOf(event.choices, word.trim()));
    if (chosen.every((choice) => choice !== undefined)) return { selected: chosen.map(({ id }) => id) };
  }
  return { input: { role: 'user', parts: [{ text: given }] } };
}

function choiceOf(choices: readonly Choice[], given: string): Choice | undefined {
  return (
    choices[Number(given) - 1] ??
    choices.find((candidate) => textOf(candidate.content).toLowerCase() === given.toLowerCase())
  );
}

function isSuspend(
  event: FollowedEvent,
): event is Extract<FollowedEvent, { requestId: string; type: SuspendEvent['type'] }> {
  return ['waitForInput', 'waitForChoice', 'queryConsent', 'readGraph', 'inspectNode', 'applyEdits'].includes(
    event.type,
  );
}
