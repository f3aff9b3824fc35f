import { createHash } from 'node:crypto';
import { canonicalJson, type Json } from '@concerto/base';
import type { EventLog } from '@concerto/log';
import type { Context } from 'hono';
import * as z from 'zod';
import { ProblemError } from './problem.ts';
import type { OnNode } from './server-context.ts';

const keepMs = 24 * 60 * 60 * 1000;
const keyLengthMax = 200;

const Kept = z.looseObject({ fingerprint: z.string(), status: z.number().int(), body: z.string() });

/** What a route makes of a request; `key` seeds ids, so that even a crash between acting and answering repeats nothing. */
export type Idempotent = { readonly key: string | undefined };

const underWay = new Map<string, Promise<unknown>>();

/**
 * Does a wish once per `Idempotency-Key`, route and caller: a repeat gets the first answer. Refusals are not kept, so
 * a caller can mend what was wrong and use the key again.
 */
export async function idempotently(
  c: Context<OnNode>,
  log: EventLog,
  body: Json | undefined,
  act: (once: Idempotent) => Promise<Response>,
): Promise<Response> {
  const header = c.req.header('idempotency-key');
  if (header === undefined) return await act({ key: undefined });
  if (header === '' || header.length > keyLengthMax) {
    throw new ProblemError(400, 'bad_key', `an Idempotency-Key has 1 to ${keyLengthMax} characters`);
  }
  const key = digest(`${c.get('person').name}\0${c.req.method} ${c.req.path}\0${header}`);
  // Some routes have a part of the wish in their query.
  const fingerprint = digest(canonicalJson(body ?? null) + new URL(c.req.url).search);
  // Two calls at once with one key: the second waits for the first, then finds its answer.
  while (underWay.has(key)) await underWay.get(key);
  const run = runOnce(log, { key, fingerprint }, act);
  underWay.set(
    key,
    run.catch(() => undefined),
  );
  try {
    return await run;
  } finally {
    underWay.delete(key);
  }
}

async function runOnce(
  log: EventLog,
  once: { readonly key: string; readonly fingerprint: string },
  act: (once: Idempotent) => Promise<Response>,
): Promise<Response> {
  const stored = await log.getDocument('idempotency', once.key);
  if (stored !== undefined) {
    const kept = Kept.parse(JSON.parse(stored.value));
    if (kept.fingerprint !== once.fingerprint) {
      throw new ProblemError(422, 'key_reused', 'this Idempotency-Key was used with another body or query');
    }
    return new Response(kept.body, { status: kept.status, headers: { 'content-type': 'application/json' } });
  }
  const response = await act({ key: once.key });
  if (response.status < 400) {
    const body = await response.clone().text();
    const value = JSON.stringify({ fingerprint: once.fingerprint, status: response.status, body });
    await log.putDocument({ collection: 'idempotency', key: once.key, value, expiresAt: Date.now() + keepMs });
  }
  return response;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 40);
}
