import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Json } from '@concerto/base';
import { type JsonRpcId, parseJsonRpcFrame } from '@concerto/protocol';

/** A request that is refused, with the code of JSON-RPC. */
export class AcpError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.name = 'AcpError';
    this.code = code;
  }
}

export const noSuchMethod = -32_601;
export const invalidParams = -32_602;
export const internalError = -32_603;

type Waiter = { readonly resolve: (value: Json) => void; readonly reject: (error: Error) => void };

export type AcpHandlers = {
  request(method: string, params: Json): Promise<Json>;
  notification(method: string, params: Json): void;
};

/** JSON-RPC on two pipes, a frame a line. Requests of both sides may be under way at once. */
export class AcpWire {
  readonly #output: Writable;
  readonly #asked = new Map<JsonRpcId, Waiter>();
  #count = 0;

  constructor(output: Writable) {
    this.#output = output;
  }

  /** Until the other side closes its end. */
  async serve(input: Readable, handlers: AcpHandlers): Promise<void> {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line.trim() !== '') this.#take(line, handlers);
    }
    for (const { reject } of this.#asked.values()) reject(new AcpError(internalError, 'the editor has left'));
    this.#asked.clear();
  }

  notify(method: string, params: object): void {
    this.#write({ method, params });
  }

  /** Aborted: the other side is told that nobody waits any more. */
  async ask(method: string, params: object, signal: AbortSignal): Promise<Json> {
    this.#count += 1;
    const id = this.#count;
    return await new Promise<Json>((resolve, reject) => {
      const stop = (): void => {
        if (!this.#asked.delete(id)) return;
        this.notify('$/cancel_request', { requestId: id });
        reject(new AcpError(internalError, 'it is settled'));
      };
      if (signal.aborted) return reject(new AcpError(internalError, 'it is settled'));
      signal.addEventListener('abort', stop);
      this.#asked.set(id, { resolve, reject });
      this.#write({ id, method, params });
    });
  }

  #take(line: string, handlers: AcpHandlers): void {
    const frame = parseJsonRpcFrame(line);
    if (!frame.ok) {
      this.#write({ id: null, error: { code: -32_700, message: frame.error } });
      return;
    }
    const { value } = frame;
    switch (value.kind) {
      case 'notification':
        handlers.notification(value.method, value.params);
        return;
      case 'request':
        void this.#answer(value.id, handlers.request(value.method, value.params));
        return;
      case 'result':
        this.#asked.get(value.id)?.resolve(value.result);
        this.#asked.delete(value.id);
        return;
      case 'error':
        if (value.id === undefined) return;
        this.#asked.get(value.id)?.reject(new AcpError(value.error.code, value.error.message));
        this.#asked.delete(value.id);
    }
  }

  async #answer(id: JsonRpcId, answer: Promise<Json>): Promise<void> {
    try {
      this.#write({ id, result: await answer });
    } catch (error) {
      const code = error instanceof AcpError ? error.code : internalError;
      this.#write({ id, error: { code, message: error instanceof Error ? error.message : String(error) } });
    }
  }

  #write(frame: object): void {
    this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);
  }
}
