import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Json } from '@concerto/base';
import { Gate } from './gate.ts';
import type {
  RequestBody,
  Said,
  ScriptedError,
  ScriptedRequest,
  ScriptedToolCall,
  ScriptStep,
  ScriptTurn,
  Wire,
  WireName,
} from './script.ts';
import { anthropic } from './wires/anthropic.ts';
import { google } from './wires/google.ts';
import { openaiChat } from './wires/openai-chat.ts';
import { openaiResponses } from './wires/openai-responses.ts';

export type { ScriptedError, ScriptedRequest, ScriptStep, ScriptTurn, WireName } from './script.ts';

const WIRES: Readonly<Record<WireName, Wire>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  anthropic,
  google,
};

const PIECE_CHARACTERS = 8;
const LARGEST_BODY_BYTES = 32 * 1024 * 1024;

/** Turns in order, one for each request; or what to answer, decided from the request. */
export type Script = readonly ScriptTurn[] | ((request: ScriptedRequest, index: number) => ScriptTurn);

/**
 * A model on loopback that says what the script says, on the wires of the providers. It has no clock: what is slow
 * waits at a gate.
 */
export class ScriptedModelServer {
  readonly #server: Server;
  readonly #script: Script;
  readonly #gates = new Map<string, Gate>();
  readonly #requests: ScriptedRequest[] = [];
  #left = 0;
  #waitingForLeft: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor(server: Server, script: Script) {
    this.#server = server;
    this.#script = script;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#answer(request, response).catch((cause: unknown) => {
        if (response.headersSent) response.destroy();
        else json(response, 500, { error: { message: `the script failed: ${String(cause)}` } });
      });
    });
  }

  /** Without a version, as people write it. */
  get url(): string {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '';
  }

  /** Everything that was asked, in order. */
  get requests(): readonly ScriptedRequest[] {
    return this.#requests;
  }

  gate(name: string): Gate {
    const gate = this.#gates.get(name) ?? new Gate();
    this.#gates.set(name, gate);
    return gate;
  }

  /** Resolves when so many clients have gone away before their answer was complete. */
  async abandoned(count = 1): Promise<void> {
    if (this.#left >= count) return;
    await new Promise<void>((resolve) => this.#waitingForLeft.push({ count, resolve }));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const left = once(response, 'close').then(() => {
      if (response.writableFinished) return;
      this.#left++;
      for (const waiting of this.#waitingForLeft) if (this.#left >= waiting.count) waiting.resolve();
    });
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const data = await readBody(request);
    const found = findWire(path, data);
    if (found === undefined) return json(response, 404, { error: { message: `no model answers at ${path}` } });
    const { name, model, streamed } = found;
    const index = this.#requests.length;
    const body: RequestBody = { ...data, model };
    const headers = Object.fromEntries(Object.entries(request.headers).map(([key, value]) => [key, String(value)]));
    const asked: ScriptedRequest = { wire: name, path, headers, body, streamed };
    this.#requests.push(asked);
    const turn = typeof this.#script === 'function' ? this.#script(asked, index) : this.#script[index];
    if (turn === undefined) return json(response, 500, { error: { message: `the script has no turn ${index + 1}` } });
    const steps = typeof turn === 'string' ? [{ text: turn }] : turn;
    await this.#play(steps, { response, left, asked, id: `${index + 1}`, wire: WIRES[name] });
  }

  async #play(steps: readonly ScriptStep[], exchange: Exchange): Promise<void> {
    const { response, left, asked, wire } = exchange;
    const out = new Output(exchange);
    for (const step of steps) {
      if ('error' in step) {
        if (!out.hasBegun) return json(response, step.error.status, wire.error(step.error), step.error.headers);
        out.fail(step.error);
        return;
      }
      if ('gate' in step) {
        // What came before is on its way before anybody waits here.
        if (asked.streamed) out.begin();
        await this.gate(step.gate).pass(left);
      } else if ('hang' in step) {
        if (asked.streamed) out.begin();
        await left;
        return;
      } else if ('drop' in step) {
        out.begin();
        await out.flushed();
        response.destroy();
        return;
      } else if ('cut' in step) {
        out.begin();
        response.end();
        return;
      } else out.say(step);
      if (response.destroyed) return;
    }
    out.end();
  }
}

type Exchange = {
  readonly response: ServerResponse;
  readonly left: Promise<void>;
  readonly asked: ScriptedRequest;
  readonly id: string;
  readonly wire: Wire;
};

type Speech = Exclude<
  ScriptStep,
  { gate: string } | { hang: true } | { drop: true } | { cut: true } | { error: unknown }
>;

/** Says a turn on its wire, at once or as a stream. */
class Output {
  readonly #exchange: Exchange;
  readonly #stream: ReturnType<Wire['stream']>;
  #text = '';
  #calls: ScriptedToolCall[] = [];
  #finish: Said['finish'] = 'stop';
  #usage: Said['usage'] = { input: 100, output: 20, cached: 0 };
  #begun = false;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    const { asked, id, wire } = exchange;
    const send = (event: Json, name?: string): void => this.#send(event, name);
    this.#stream = wire.stream(send, { id, model: asked.body.model, body: asked.body });
  }

  get hasBegun(): boolean {
    return this.#begun;
  }

  begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    this.#exchange.response.writeHead(200, {
      'content-type': this.#exchange.asked.streamed ? 'text/event-stream' : 'application/json',
    });
    if (this.#exchange.asked.streamed) this.#stream.start();
    else this.#exchange.response.flushHeaders();
  }

  /** Until the other side can have read it: cutting earlier would take it back. */
  async flushed(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#exchange.response.write(this.#exchange.asked.streamed ? ': \n\n' : ' ', () => resolve());
    });
  }

  say(step: Speech): void {
    const { streamed } = this.#exchange.asked;
    if (streamed) this.begin();
    if ('usage' in step) this.#usage = { cached: 0, ...step.usage };
    else if ('finish' in step) this.#finish = step.finish;
    else if ('thought' in step) this.#stream.thought?.(step.thought);
    else if ('text' in step) {
      this.#text += step.text;
      const size = step.pieces ?? PIECE_CHARACTERS;
      for (let at = 0; streamed && at < step.text.length; at += size) this.#stream.text(step.text.slice(at, at + size));
    } else {
      const call = {
        id: step.id ?? `call_${this.#exchange.id}_${this.#calls.length + 1}`,
        name: step.tool,
        ...('namespace' in step && step.namespace !== undefined ? { namespace: step.namespace } : {}),
        ...writtenBy(step),
      };
      this.#calls.push(call);
      if (streamed) this.#stream.call(call);
    }
  }

  fail(error: ScriptedError): void {
    const { response, wire } = this.#exchange;
    const { event, name } = wire.streamedError(error);
    this.#send(event, name);
    response.end();
  }

  #send(event: Json, name?: string): void {
    const data = typeof event === 'string' ? event : JSON.stringify(event);
    this.#exchange.response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`);
  }

  end(): void {
    const { response, asked, wire, id } = this.#exchange;
    const said: Said = { text: this.#text, calls: this.#calls, finish: this.#finish, usage: this.#usage };
    if (asked.streamed) {
      this.begin();
      this.#stream.end(said);
      response.end();
    } else json(response, 200, wire.whole(said, { id, model: asked.body.model, body: asked.body }));
  }
}

function writtenBy(step: Extract<ScriptStep, { tool: string }>): Pick<ScriptedToolCall, 'arguments' | 'isFreeform'> {
  if ('input' in step) return { arguments: step.input, isFreeform: true };
  return { arguments: 'rawArguments' in step ? step.rawArguments : JSON.stringify(step.arguments) };
}

function findWire(
  path: string,
  body: { readonly [key: string]: Json },
): { readonly name: WireName; readonly model: string; readonly streamed: boolean } | undefined {
  const names: readonly WireName[] = ['openai-chat', 'openai-responses', 'anthropic', 'google'];
  for (const name of names) {
    const found = WIRES[name].match(path, body);
    if (found !== undefined) return { name, ...found };
  }
  return undefined;
}

async function readBody(request: IncomingMessage): Promise<{ readonly [key: string]: Json }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LARGEST_BODY_BYTES) throw new Error(`more than ${LARGEST_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  if (size === 0) return {};
  const data: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? (data as { [key: string]: Json }) : {};
}

function json(
  response: ServerResponse,
  status: number,
  data: Json,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (!response.headersSent) response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(data));
}

/** Starts a server on a free port of loopback. Close it. */
export async function startScriptedModelServer(script: Script): Promise<ScriptedModelServer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new ScriptedModelServer(server, script);
}
