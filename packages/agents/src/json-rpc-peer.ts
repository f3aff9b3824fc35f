import { err, type Json, type JsonObject, ok, type Result, strictJson } from '@concerto/base';
import { type JsonRpcError, type JsonRpcId, parseJsonRpcFrame } from '@concerto/protocol';

/** Requests of the other side that wait for an answer of ours; one more is refused. */
const openRequestsMax = 256;

/** The codes of JSON-RPC that we say ourselves. */
export const jsonRpcCodes = { methodNotFound: -32601, invalidParams: -32602, internal: -32603 } as const;

export type PeerRequest = { readonly id: JsonRpcId; readonly method: string; readonly params: Json };

export type PeerOptions = {
  /** Whether our frames say `"jsonrpc": "2.0"`. */
  readonly namesVersion: boolean;
  /** Takes one line, without its newline. */
  readonly write: (line: string) => Promise<void>;
  /** Answered with `respond` or `refuse`, now or later. */
  readonly onRequest: (request: PeerRequest) => void;
  readonly onNotification: (method: string, params: Json) => void;
};

/** The other side refused a request of ours. */
export class JsonRpcRefusal extends Error {
  override readonly name = 'JsonRpcRefusal';
  readonly code: number;
  readonly data: Json | undefined;

  constructor(method: string, { code, message, data }: JsonRpcError) {
    super(`${method}: ${message} (${code})`);
    this.code = code;
    this.data = data;
  }
}

/** A request of ours got no answer in its time. */
export class JsonRpcTimeout extends Error {
  override readonly name = 'JsonRpcTimeout';
  constructor(method: string, timeoutMs: number) {
    super(`${method}: no answer within ${timeoutMs / 1000} s`);
  }
}

/** The result, or why there is none: a `JsonRpcRefusal`, or the cause that `close` was given. */
export type PeerAnswer = Result<Json, Error>;

type Waiting = { readonly method: string; readonly answered: (answer: PeerAnswer) => void };

/** One end of a JSON-RPC conversation. It knows frames, not lines' ends nor processes: those it is told and given. */
export class JsonRpcPeer {
  readonly #options: PeerOptions;
  readonly #waiting = new Map<JsonRpcId, Waiting>();
  readonly #open = new Set<JsonRpcId>();
  #lastId = 0;
  #closed: Error | undefined;

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  /** Without `timeoutMs` it waits until the other side answers or is gone: for what has a deadline of its own. */
  request(method: string, params: JsonObject, timeoutMs?: number): Promise<Json> {
    return new Promise((resolve, reject) => {
      const timer =
        timeoutMs === undefined
          ? undefined
          : setTimeout(() => {
              this.#waiting.delete(id);
              reject(new JsonRpcTimeout(method, timeoutMs));
            }, timeoutMs);
      const { id, written } = this.#ask(method, params, (answer) => {
        clearTimeout(timer);
        if (answer.ok) resolve(answer.value);
        else reject(answer.error);
      });
      written.catch((cause: unknown) => {
        clearTimeout(timer);
        reject(cause);
      });
    });
  }

  /**
   * Asks, and resolves when the question is written. The answer is told in its place among all that the other side
   * says, which a promise would not keep; for work that has a deadline of its own. Told nothing when the write fails.
   */
  async call(method: string, params: JsonObject, answered: (answer: PeerAnswer) => void): Promise<void> {
    await this.#ask(method, params, answered).written;
  }

  notify(method: string, params: JsonObject): Promise<void> {
    return this.#send({ method, params });
  }

  /** Whether the request was still open: it is answered once. */
  async respond(id: JsonRpcId, result: Json): Promise<boolean> {
    if (!this.#open.delete(id)) return false;
    await this.#send({ id, result });
    return true;
  }

  async refuse(id: JsonRpcId, error: { readonly code: number; readonly message: string }): Promise<boolean> {
    if (!this.#open.delete(id)) return false;
    await this.#send({ id, error });
    return true;
  }

  /** One line of the other side. The refusal says what is wrong with it; the conversation goes on. */
  receive(line: string): Result<void, string> {
    const parsed = parseJsonRpcFrame(line);
    if (!parsed.ok) return parsed;
    const frame = parsed.value;
    switch (frame.kind) {
      case 'notification':
        this.#options.onNotification(frame.method, frame.params);
        return ok(undefined);
      case 'request':
        return this.#takeRequest(frame);
      case 'result':
        // An answer that came too late is nobody's any more.
        this.#take(frame.id)?.answered(ok(frame.result));
        return ok(undefined);
      case 'error': {
        if (frame.id === undefined) return err(`it could not read a frame of ours: ${frame.error.message}`);
        const waiting = this.#take(frame.id);
        waiting?.answered(err(new JsonRpcRefusal(waiting.method, frame.error)));
        return ok(undefined);
      }
    }
  }

  /** The other side is gone: whoever waits for it learns why. */
  close(cause: Error): void {
    this.#closed ??= cause;
    this.#open.clear();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { answered } of waiting) answered(err(cause));
  }

  #ask(
    method: string,
    params: JsonObject,
    answered: (answer: PeerAnswer) => void,
  ): { readonly id: number; readonly written: Promise<void> } {
    const id = ++this.#lastId;
    this.#waiting.set(id, { method, answered });
    const written = this.#send({ id, method, params }).catch((cause: unknown) => {
      this.#waiting.delete(id);
      throw cause;
    });
    return { id, written };
  }

  #take(id: JsonRpcId): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #takeRequest({ id, method, params }: PeerRequest): Result<void, string> {
    if (this.#open.has(id)) return err(`its request ${JSON.stringify(id)} is open already`);
    this.#open.add(id);
    if (this.#open.size > openRequestsMax) {
      void this.refuse(id, { code: jsonRpcCodes.internal, message: 'too many open requests' }).catch(() => undefined);
      return err(`it has more than ${openRequestsMax} requests open`);
    }
    this.#options.onRequest({ id, method, params });
    return ok(undefined);
  }

  async #send(frame: JsonObject): Promise<void> {
    if (this.#closed !== undefined) throw this.#closed;
    await this.#options.write(strictJson(this.#options.namesVersion ? { jsonrpc: '2.0', ...frame } : frame));
  }
}
