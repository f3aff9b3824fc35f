import { isNestedTooDeep, type Json, jsonDepthMax } from '@concerto/base';
import type { Context } from 'hono';
import type { z } from 'zod';
import { ProblemError } from './problem.ts';

const bodyBytesMax = 1024 * 1024;

/** The body as the schema's type; every way it can be wrong has its own status and names the place. */
export async function readBody<S extends z.ZodType>(c: Context, schema: S): Promise<z.output<S>> {
  return parseBody(await readJson(c), schema);
}

export async function readJson(c: Context): Promise<Json | undefined> {
  const text = await readText(c);
  if (text.trim() === '') return undefined;
  const body = parseJson(text);
  if (isNestedTooDeep(body)) {
    throw new ProblemError(400, 'bad_json', `the body nests deeper than ${jsonDepthMax} levels`);
  }
  return body;
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ProblemError(400, 'bad_json', `the body is not JSON: ${messageOf(cause)}`, { cause });
  }
}

export function parseBody<S extends z.ZodType>(body: unknown, schema: S): z.output<S> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.flatMap((issue) => faultsOf(issue, []));
  const first = errors[0];
  const where = first === undefined || first.path === '' ? 'the body' : `\`${first.path}\``;
  throw new ProblemError(422, 'invalid_body', `${where}: ${first?.message ?? 'is not valid'}`, { members: { errors } });
}

type Fault = { readonly path: string; readonly message: string };

/** Every fault at its own place: of a union the alternative that came nearest, of unknown keys each one. */
function faultsOf(issue: z.core.$ZodIssue, outer: readonly PropertyKey[]): readonly Fault[] {
  const path = [...outer, ...issue.path];
  const at = (keys: readonly PropertyKey[]): string => keys.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: at([...path, key]), message: 'is not a known key' }));
  }
  if (issue.code === 'invalid_union') {
    const [nearest] = issue.errors.toSorted((a, b) => a.length - b.length);
    if (nearest !== undefined && nearest.length > 0) return nearest.flatMap((inner) => faultsOf(inner, path));
  }
  return [{ path: at(path), message: issue.message }];
}

async function readText(c: Context): Promise<string> {
  const declared = Number(c.req.header('content-length') ?? '0');
  const reader = c.req.raw.body?.getReader();
  if (reader === undefined) return '';
  const chunks: Uint8Array[] = [];
  // A chunked body declares no length, so the limit is kept while reading.
  for (let size = declared > bodyBytesMax ? declared : 0; ; ) {
    if (size > bodyBytesMax) {
      if (declared <= discardBytesMax) await discardRest(reader);
      throw tooLarge();
    }
    const { done, value } = await reader.read();
    if (done) return decodeUtf8(Buffer.concat(chunks));
    size += value.byteLength;
    chunks.push(value);
  }
}

/** Many clients hear no answer before they have said everything: closing under them would look like a broken line. */
const discardBytesMax = 64 * 1024 * 1024;
const discardWithinMs = 3_000;

async function discardRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, discardWithinMs);
  });
  await Promise.race([discard(reader), late]);
  clearTimeout(timer);
}

async function discard(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    for (let size = 0; size <= discardBytesMax; ) {
      const { done, value } = await reader.read();
      if (done) return;
      size += value.byteLength;
    }
  } catch {
    // The caller left before the end; the answer goes nowhere.
  }
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ProblemError(400, 'bad_json', 'the body is not UTF-8', { cause });
  }
}

function tooLarge(): ProblemError {
  return new ProblemError(413, 'body_too_large', `a body has at most ${bodyBytesMax} bytes`, {
    headers: { connection: 'close' },
  });
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
