import type { Json } from '@concerto/base';
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
  if (declared > bodyBytesMax) throw tooLarge();
  const stream = c.req.raw.body;
  if (stream === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  // A chunked body declares no length, so the limit is kept while reading.
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size > bodyBytesMax) throw tooLarge();
    chunks.push(chunk);
  }
  return decodeUtf8(Buffer.concat(chunks));
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
