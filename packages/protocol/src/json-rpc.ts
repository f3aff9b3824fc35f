import { err, isNestedTooDeep, type Json, jsonDepthMax, ok, type Result } from '@concerto/base';
import * as z from 'zod/mini';
import { JsonValue } from './json-value.ts';

/**
 * JSON-RPC 2.0, one frame a line, as agents speak it. `"jsonrpc": "2.0"` is not asked for: some leave it out, and
 * nothing hangs on it. Batches are no part of any agent's protocol and are refused.
 */

const JsonRpcId = z.union([z.string(), z.number()]);
/** Each side counts its own requests: the same id may be under way in both directions. */
export type JsonRpcId = z.infer<typeof JsonRpcId>;

const JsonRpcError = z.looseObject({ code: z.number(), message: z.string(), data: z.optional(JsonValue) });
export type JsonRpcError = z.infer<typeof JsonRpcError>;

const Call = z.looseObject({ id: z.optional(JsonRpcId), method: z.string(), params: z.optional(JsonValue) });
const Failure = z.looseObject({ id: z.nullable(JsonRpcId), error: JsonRpcError });
const Success = z.looseObject({ id: JsonRpcId, result: JsonValue });

export type JsonRpcFrame =
  | { readonly kind: 'request'; readonly id: JsonRpcId; readonly method: string; readonly params: Json }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Json }
  | { readonly kind: 'result'; readonly id: JsonRpcId; readonly result: Json }
  /** Without an id when the other side could not read ours. */
  | { readonly kind: 'error'; readonly id: JsonRpcId | undefined; readonly error: JsonRpcError };

/** One line; the refusal says in words what is wrong with it. */
export function parseJsonRpcFrame(text: string): Result<JsonRpcFrame, string> {
  const value = parsedObject(text);
  if (!value.ok) return value;
  if ('method' in value.value) {
    const call = Call.safeParse(value.value);
    if (!call.success) return err(reason(call.error));
    const { id, method, params = null } = call.data;
    return ok(id === undefined ? { kind: 'notification', method, params } : { kind: 'request', id, method, params });
  }
  if ('error' in value.value && value.value.error !== null) {
    const failure = Failure.safeParse(value.value);
    if (!failure.success) return err(reason(failure.error));
    return ok({ kind: 'error', id: failure.data.id ?? undefined, error: failure.data.error });
  }
  const success = Success.safeParse(value.value);
  if (!success.success) return err(reason(success.error));
  return ok({ kind: 'result', id: success.data.id, result: success.data.result });
}

function parsedObject(text: string): Result<{ readonly [key: string]: Json }, string> {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    return err('it is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return err('it is no JSON object');
  if (isNestedTooDeep(value)) return err(`it nests deeper than ${jsonDepthMax} levels`);
  return ok(Object.fromEntries(Object.entries(value)));
}

function reason(error: z.core.$ZodError): string {
  return `it is no frame: ${z.prettifyError(error).replaceAll(/\s+/g, ' ')}`;
}
