import { isNestedTooDeep, type Json, jsonDepthMax, strictValue } from '@concerto/base';
import type { Context } from 'hono';
import * as z from 'zod';
import { bodyFaults } from './body-faults.ts';
import { ProblemError } from './problem.ts';
import type { OnNode } from './server-context.ts';

type Incoming = OnNode['Bindings']['incoming'];

const bodyBytesMax = 8 * 1024 * 1024;

/** The body as the schema's type; every way it can be wrong has its own status and names the place. */
export async function readBody<S extends z.core.$ZodType>(c: Context<OnNode>, schema: S): Promise<z.output<S>> {
  return parseBody(await readJson(c), schema);
}

export async function readJson(c: Context<OnNode>): Promise<Json | undefined> {
  const text = await readText(c);
  if (text.trim() === '') return undefined;
  const body = parseJson(text);
  if (isNestedTooDeep(body)) {
    throw new ProblemError(400, 'bad_json', `the body nests deeper than ${jsonDepthMax} levels`);
  }
  return writtenHalf.test(text) ? strictValue(body) : body;
}

/** Or of a pair, which stays as it is: strict readers refuse all that half a character is in, and what is said here is read by many. */
const writtenHalf = /\\ud[89a-f]/i;

function parseJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ProblemError(400, 'bad_json', `the body is not JSON: ${messageOf(cause)}`, { cause });
  }
}

export function parseBody<S extends z.core.$ZodType>(body: unknown, schema: S): z.output<S> {
  const parsed = z.safeParse(schema, body);
  if (parsed.success) return parsed.data;
  const errors = bodyFaults(parsed.error.issues, body);
  const first = errors[0];
  const where = first === undefined || first.path === '' ? 'the body' : `\`${first.path}\``;
  throw new ProblemError(422, 'invalid_body', `${where}: ${first?.message ?? 'is not valid'}`, { members: { errors } });
}

/** From Node's own request: the same through a web stream took longer than the commit that follows it. */
async function readText({ env: { incoming } }: Context<OnNode>): Promise<string> {
  const declared = Number(incoming.headers['content-length'] ?? '0');
  if (declared > bodyBytesMax) {
    if (declared <= discardBytesMax) await discardRest(incoming);
    throw tooLarge();
  }
  const bytes = readHere(incoming, declared) ?? (await readBytes(incoming));
  if (bytes === undefined) {
    await discardRest(incoming);
    throw tooLarge();
  }
  return decodeUtf8(bytes);
}

/**
 * All of a body that came with its head, which nearly every one does: to be told of its pieces and its end takes longer
 * than to look. Undefined when some of it is still to come.
 */
function readHere(incoming: Incoming, declared: number): Buffer | undefined {
  if (declared === 0 || incoming.readableLength !== declared) return undefined;
  const bytes: unknown = incoming.read();
  if (!Buffer.isBuffer(bytes)) return undefined;
  // Its end is still to be read, or the connection would wait with the next call.
  incoming.resume();
  return bytes;
}

/** Undefined as soon as there are too many: a chunked body declares no length, so the limit is kept while reading. */
async function readBytes(incoming: Incoming): Promise<Buffer | undefined> {
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > bodyBytesMax) settle(() => resolve(undefined));
    };
    const onEnd = (): void => settle(() => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    const onClose = (): void => settle(() => reject(new ProblemError(400, 'bad_json', 'the body ended too early')));
    const settle = (then: () => void): void => {
      incoming.off('data', onData).off('end', onEnd).off('error', onClose).off('close', onClose);
      then();
    };
    if (incoming.readableEnded || incoming.destroyed) return onClose();
    incoming.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose);
  });
}

/** Many clients hear no answer before they have said everything: closing under them would look like a broken line. */
const discardBytesMax = 256 * 1024 * 1024;
const discardWithinMs = 3_000;

/** For a call that is refused before its body was looked at. */
export async function discardUnreadBody({ env: { incoming } }: Context<OnNode>): Promise<void> {
  if (incoming.complete && incoming.readableLength === 0) return;
  if (Number(incoming.headers['content-length'] ?? '0') <= discardBytesMax) await discardRest(incoming);
}

async function discardRest(incoming: Incoming): Promise<void> {
  await new Promise<void>((resolve) => {
    let size = 0;
    const timer = setTimeout(() => done(), discardWithinMs);
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > discardBytesMax) done();
    };
    const done = (): void => {
      clearTimeout(timer);
      incoming.off('data', onData).off('end', done).off('error', done).off('close', done);
      resolve();
    };
    incoming.on('data', onData).on('end', done).on('error', done).on('close', done);
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new ProblemError(400, 'bad_json', 'the body is not UTF-8', { cause });
  }
}

function tooLarge(): ProblemError {
  return new ProblemError(413, 'body_too_large', `a body has at most ${bodyBytesMax} bytes`);
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
