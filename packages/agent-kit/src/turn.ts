import type { Json, JsonObject } from '@concerto/base';
import type { Decision } from '@concerto/protocol';

/** Why a question got no answer: the supervisor said so, the turn was stopped, or nobody is there any more. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

export type AskOptions = { readonly options?: readonly string[]; readonly context?: Json };
export type ApproveOptions = {
  readonly riskLevel?: 'low' | 'medium' | 'high' | (string & {});
  readonly [field: string]: Json | undefined;
};
export type ToolKind =
  | 'read'
  | 'edit'
  | 'delete'
  | 'move'
  | 'search'
  | 'execute'
  | 'think'
  | 'fetch'
  | 'switch_mode'
  | 'other';
export type ToolLocation = { readonly path: string; readonly line?: number };
/** `patch` is a unified diff; how many lines it adds and removes is counted where it is not said. */
export type ToolChange = {
  readonly path: string;
  readonly kind?: 'create' | 'edit' | 'delete' | 'move';
  readonly moved_to?: string;
  readonly patch?: string;
  readonly added?: number;
  readonly removed?: number;
};
export type ToolOptions = {
  readonly args?: JsonObject;
  readonly title?: string;
  readonly kind?: ToolKind;
  readonly locations?: readonly ToolLocation[];
  readonly changes?: readonly ToolChange[];
  /** The call whose sub-agent makes this one. */
  readonly parent?: string;
  /** The message of the model that it belongs to. */
  readonly message?: string;
};
export type ToolResultOptions = {
  readonly outcome?: 'ok' | 'failed' | 'denied' | 'cancelled';
  readonly locations?: readonly ToolLocation[];
  readonly changes?: readonly ToolChange[];
};
/** A call under way. */
export type ToolHandle = {
  /** For `approve` and `decide`: `{ call: tool.id }` says what is to be allowed. */
  readonly id: string;
  /** A piece of what it writes. */
  readonly output: (text: string) => void;
  /** Its end; a text, any JSON, or `{parts}` for pictures and files. */
  readonly result: (content?: Json, options?: ToolResultOptions) => void;
};
export type PlanStep = {
  readonly content: string;
  readonly status?: 'pending' | 'in_progress' | 'completed';
  readonly priority?: string;
};
/** What was used since the last time. */
export type TurnUsage = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly costUsd?: number;
  readonly model?: string;
  /** How full the model's window is. */
  readonly context?: { readonly used: number; readonly size: number };
};

export type ProgressOptions = {
  readonly percent?: number;
  readonly stage?: string;
  readonly [field: string]: Json | undefined;
};

/** What the agent can say while it works on one prompt. */
export type Turn = {
  /** Aborts when the turn is interrupted or cancelled. */
  readonly signal: AbortSignal;
  /** Waits for the supervisor's answer; rejects with `NoAnswer` when there will be none. */
  readonly ask: (question: string, options?: AskOptions) => Promise<Json>;
  /** Waits for a yes or a no; everything but a yes is a no. */
  readonly approve: (description: string, options?: ApproveOptions) => Promise<boolean>;
  /** The same, with what the supervisor said beside the no. */
  readonly decide: (description: string, options?: ApproveOptions) => Promise<Decision>;
  readonly progress: (message: string, options?: ProgressOptions) => void;
  /** A piece of the answer, as it comes; `message` names the message that it is a piece of. */
  readonly partial: (text: string, message?: string) => void;
  /** A whole message; with an id it replaces the pieces that were said under it. */
  readonly message: (text: string, id?: string) => void;
  readonly thought: (text: string, message?: string) => void;
  /** Says that a tool is called; what it writes and how it ends is said with what comes back. */
  readonly tool: (name: string, options?: ToolOptions) => ToolHandle;
  /** The whole plan as it stands now. */
  readonly plan: (steps: readonly PlanStep[]) => void;
  readonly usage: (usage: TurnUsage) => void;
  readonly log: (message: string, level?: 'debug' | 'info' | 'warn' | 'error') => void;
  /** A message of your own, dispatched by its type. */
  readonly send: (type: string, fields?: JsonObject) => void;
  /** The same for one that wants an answer. */
  readonly request: (type: string, fields?: JsonObject) => Promise<Json>;
  /** Resolves at once, or after `resume` while the agent is paused; rejects when the turn is stopped. Call it between steps. */
  readonly checkpoint: () => Promise<void>;
};

type Open = { readonly type: string; readonly settle: (answer: Json) => void; readonly fail: (error: Error) => void };

/** The questions that wait for an answer, of all turns of a process. */
export class OpenQuestions {
  readonly #open = new Map<string, Open>();
  #asked = 0;
  #closed: string | undefined;

  /** `write` is called with the id that the answer will carry. */
  ask(type: string, signal: AbortSignal, write: (id: string) => void): Promise<Json> {
    if (this.#closed !== undefined) return Promise.reject(new NoAnswer(this.#closed));
    if (signal.aborted) return Promise.reject(stopped(signal));
    const id = `${type}-${++this.#asked}`;
    return new Promise<Json>((resolve, reject) => {
      const stop = (): void => open.fail(stopped(signal));
      const open: Open = {
        type,
        settle: (answer) => {
          this.#open.delete(id);
          signal.removeEventListener('abort', stop);
          resolve(answer);
        },
        fail: (error) => {
          this.#open.delete(id);
          signal.removeEventListener('abort', stop);
          reject(error);
        },
      };
      this.#open.set(id, open);
      signal.addEventListener('abort', stop, { once: true });
      write(id);
    });
  }

  /** False when nothing waits for this answer any more. */
  answer(response: {
    readonly type: string | undefined;
    readonly id: string | undefined;
    readonly value: Json;
    readonly error: Json | undefined;
  }): boolean {
    const open = response.id === undefined ? this.#oldest(response.type) : this.#open.get(response.id);
    if (open === undefined) return false;
    const { error } = response;
    if (error === undefined) open.settle(response.value);
    else open.fail(new NoAnswer(typeof error === 'string' ? error : JSON.stringify(error)));
    return true;
  }

  close(reason: string): void {
    this.#closed = reason;
    for (const open of this.#open.values()) open.fail(new NoAnswer(reason));
  }

  /** An answer need not name the question: then it is for the first of its type. */
  #oldest(type: string | undefined): Open | undefined {
    return [...this.#open.values()].find((open) => type === undefined || open.type === type);
  }
}

export function stopped(signal: AbortSignal): NoAnswer {
  return new NoAnswer(typeof signal.reason === 'string' ? signal.reason : 'the turn was stopped');
}
