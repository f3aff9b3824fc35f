import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * The token of this folder's server: made once and kept readable by its owner alone, so that a restart does not log
 * the browser out.
 */
export function keptToken(file: string): string {
  const known = readIfThere(file);
  if (known !== undefined && known.length >= 16) return known;
  const token = randomBytes(24).toString('base64url');
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${token}\n`, { mode: 0o600 });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`the token cannot be kept in ${file}; give one with --token or CONCERTO_TOKEN (${why})`, { cause });
  }
  return token;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined; // The first start in this folder.
  }
}
