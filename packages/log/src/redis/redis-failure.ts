import { ErrorReply } from 'redis';
import { LogError, type LogErrorCode } from '../event-log.ts';

/** The address without its password, for messages. */
export function addressOf(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

/** True when no answer came, or one after which the same command may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof LogError) return false;
  if (!(error instanceof ErrorReply)) return true;
  return /^(LOADING|MASTERDOWN|TRYAGAIN|BUSY)\b/.test(error.message);
}

export function redisFailure(error: unknown, address: string): LogError {
  if (error instanceof LogError) return error;
  const reason = reasonOf(error);
  const known = failures.find(([sign]) => reason.includes(sign));
  if (known === undefined)
    return new LogError('unavailable', `the store ${address} failed: ${reason}`, { cause: error });
  const [, code, advice] = known;
  return new LogError(code, `the store ${address} ${advice} (${reason})`, { cause: error });
}

function reasonOf(error: unknown): string {
  // A host with several addresses fails with one error for each and no message of its own.
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

const failures: readonly (readonly [string, LogErrorCode, string])[] = [
  ['OOM', 'full', 'has no memory left; raise its maxmemory or trim old sessions'],
  ['MISCONF', 'full', 'cannot write its files; free space on its disk'],
  ['READONLY', 'read-only', 'is a read-only replica; use the address of the primary'],
  ['WRONGPASS', 'refused', 'refused the name or password; correct them in the store URL'],
  ['NOAUTH', 'refused', 'wants a password; put it in the store URL as redis://:PASSWORD@HOST'],
  ['NOPERM', 'refused', 'does not let this user write; grant it the keys and channels `concerto:*` and scripting'],
  ['WRONGTYPE', 'corrupt', 'holds other data under our keys; use another database number'],
  ['FOREIGNENTRY', 'corrupt', 'has entries in a stream that Concerto did not write; restore it from a backup'],
  ['LOADING', 'unavailable', 'is still loading what it kept'],
  ['ECONNREFUSED', 'unavailable', 'does not answer; start Redis there, or correct the store URL'],
  ['ENOTFOUND', 'unavailable', 'has a host name that is not known; correct the store URL'],
  ['EAI_AGAIN', 'unavailable', 'has a host name that cannot be looked up now; check the network'],
];
