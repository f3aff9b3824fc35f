import type { Json } from '@concerto/base';
import type { ChildSessions } from '../children/child-sessions.ts';
import type { PlainValue } from '../program/machine/machine.ts';
import type { WorkerAnswer, WorkerOutput } from '../worker.ts';
import type { ProgramTerminal } from './program-terminal.ts';
import { asked } from './program-words.ts';

export type ProgramAsksOptions = {
  readonly session: string;
  /** Where somebody stands beside the program. */
  readonly terminal: ProgramTerminal | undefined;
  readonly push: (output: WorkerOutput) => void;
  /** Everything that the program has said so far is on record. */
  readonly written: () => Promise<void>;
  /** Its session goes on without us, and so does what it asks. */
  readonly isLeft: () => boolean;
};

type Question = { readonly id: string; readonly channel: string; readonly payload: PlainValue };

/** The token of this machine, and whoever sits before it. */
const whoSitsThere = 'user:owner';

/** What a program asks of people: each is a request of its session, and the first answer counts, whoever gives it. */
export class ProgramAsks {
  readonly #options: ProgramAsksOptions;
  readonly #open = new Map<string, (answer: Json) => void>();

  constructor(options: ProgramAsksOptions) {
    this.#options = options;
  }

  /** How what was asked is answered with this; undefined where nobody asks it any more. */
  answeredBy(answer: WorkerAnswer): (() => void) | undefined {
    const open = 'inReplyTo' in answer ? this.#open.get(String(answer.inReplyToId)) : undefined;
    return open === undefined ? undefined : () => open('value' in answer ? exactly(answer) : null);
  }

  async ask(children: ChildSessions, question: Question, signal: AbortSignal): Promise<Json> {
    const { terminal } = this.#options;
    if (terminal === undefined) return await this.#request(question, signal);
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    const { id, channel, payload } = question;
    const answered = this.#request(question, until);
    const cannot = new Promise<never>((_resolve, reject) => {
      terminal
        .ask(channel, payload, until, id)
        .then((response) => this.#answer(children, id, response))
        // What is not waited for any more is told so by this.
        .catch((cause: unknown) => (until.aborted ? undefined : reject(cause)));
    });
    try {
      return await Promise.race([answered, cannot]);
    } finally {
      over.abort();
    }
  }

  async #request({ id, channel, payload }: Question, signal: AbortSignal): Promise<Json> {
    const { push, isLeft } = this.#options;
    const answered = new Promise<Json>((resolve) => this.#open.set(id, resolve));
    const left = new Promise<Json>((resolve) => {
      const onAbort = (): void => {
        const reason = 'the program does not wait for it any more';
        if (this.#open.has(id) && !isLeft()) push({ kind: 'withdrawn', id, reason });
        resolve(null);
      };
      signal.addEventListener('abort', onAbort, { once: true });
    });
    push({ kind: 'message', ...asked(channel, payload, id), requestId: id });
    return await Promise.race([answered, left]).finally(() => this.#open.delete(id));
  }

  /** The wish of whoever sits at the terminal; refused where somebody else was quicker. */
  async #answer(children: ChildSessions, requestId: string, response: Json): Promise<void> {
    const { session, written } = this.#options;
    await written();
    // As it was typed: of a yes to an approval others make words.
    const line = JSON.stringify({ value: response });
    await children.askAs(whoSitsThere, session, { type: 'answer', requestId, response, line });
  }
}

function exactly({ value, line }: { readonly value: Json; readonly line?: string | undefined }): Json {
  if (line === undefined) return value;
  const said: { readonly value?: Json } = JSON.parse(line);
  return said.value ?? null;
}
