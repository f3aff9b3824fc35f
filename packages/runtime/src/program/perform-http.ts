import type { Json } from '@concerto/base';
import { type ProgramRequest, WorldFailure } from './program-world.ts';

const TIMEOUT_MS = 60_000;
const LARGEST_BODY_BYTES = 64 * 1024 * 1024;

export async function performHttp(
  request: Extract<ProgramRequest, { kind: 'http' }>,
  cancelled: AbortSignal,
): Promise<Json> {
  const late = AbortSignal.timeout(TIMEOUT_MS);
  const signal = AbortSignal.any([cancelled, late]);
  const headers = new Headers(request.headers);
  if (request.body !== null && !headers.has('content-type')) headers.set('content-type', 'application/json');
  try {
    const response = await fetch(request.url, { method: request.method, headers, body: request.body, signal });
    const body = await readBody(response);
    return { status: response.status, body, headers: Object.fromEntries(response.headers) };
  } catch (cause) {
    if (cause instanceof WorldFailure) throw cause;
    // Asking here also keeps the timeout: `any` holds it weakly, and one that is collected never comes.
    const why = late.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : reason(cause);
    throw new WorldFailure('http', `${request.method} ${request.url}: ${why}`, { cause });
  }
}

async function readBody(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > LARGEST_BODY_BYTES) {
      throw new WorldFailure('http', `the answer has more than ${LARGEST_BODY_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function reason(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // `fetch failed` says nothing; its cause does.
  return cause.cause instanceof Error ? cause.cause.message : cause.message;
}
