import { ErrorReply } from 'redis';
import { LogError, type LogErrorCode } from '../event-log.ts';

/** The address without its password, for messages. */
export function addressOf(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

/** True when no answer came, or one after which the same command may succeed a moment later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof LogError || isCertificate(error)) return false;
  if (!(error instanceof ErrorReply)) return true;
  return /^(LOADING|MASTERDOWN|TRYAGAIN|BUSY)\b/.test(error.message);
}

/** Of the server: it will be the same the next time. */
function isCertificate(error: unknown): boolean {
  return error instanceof Error && 'code' in error && certificates.includes(String(error.code));
}

const certificates = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
];

export function redisFailure(error: unknown, address: string): LogError {
  if (error instanceof LogError) return error;
  const reason = reasonOf(error);
  if (isCertificate(error))
    return new LogError('refused', `the store ${address} ${distrust} (${reason})`, { cause: error });
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

/** Said where nothing came back at all. */
export const noAnswer = 'no answer';

const distrust =
  'has a certificate that is not trusted here; name the file of its authority in NODE_EXTRA_CA_CERTS, and call the server by a name in the certificate';

const rights =
  'does not let this user do what is needed; allow it with `ACL SETUSER NAME ~concerto:* &concerto:* +@read +@write +@pubsub +@scripting +@connection +info +time`';

const failures: readonly (readonly [string, LogErrorCode, string])[] = [
  [
    'OOM',
    'full',
    'has no memory left; raise its maxmemory, then delete old sessions or let [retention] keep_size do it in time',
  ],
  ['MISCONF', 'full', 'cannot write its files; free space on its disk'],
  ['READONLY', 'read-only', 'is a read-only replica; use the address of the primary'],
  ['WRONGPASS', 'refused', 'refused the name or password; correct them in the store URL'],
  ['NOAUTH', 'refused', 'wants a password; put it in the store URL as redis://:PASSWORD@HOST'],
  ['NOPERM', 'refused', rights],
  ['The user executing the script', 'refused', rights],
  ['ACL failure in script', 'refused', rights],
  [
    'DB index is out of range',
    'bad-url',
    'has no database of this number; choose a smaller one, or raise its `databases`',
  ],
  ['WRONGTYPE', 'corrupt', 'holds other data under our keys; use another database number'],
  ['FOREIGNENTRY', 'corrupt', 'has entries in a stream that Concerto did not write; restore it from a backup'],
  ['LOADING', 'unavailable', 'is still loading what it kept'],
  ['ECONNREFUSED', 'unavailable', 'does not answer; start Redis there, or correct the store URL'],
  ['ECONNRESET', 'unavailable', 'hung up; if it speaks TLS, the store URL begins with rediss://'],
  [
    noAnswer,
    'unavailable',
    'gave no answer; look whether it is Redis that listens there, with TLS where the URL says rediss://',
  ],
  ['ENOTFOUND', 'unavailable', 'has a host name that is not known; correct the store URL'],
  ['EAI_AGAIN', 'unavailable', 'has a host name that cannot be looked up now; check the network'],
];
