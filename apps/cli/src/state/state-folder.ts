import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';

/*
 * What a person's servers keep for that person alone: tokens, addresses, which folders are trusted. Never in the
 * project: agents work there, and a clone brings whatever its author put there.
 */

/** The user's own, by the rules of the system; made on first use. */
export function stateRoot(): string {
  const { XDG_STATE_HOME: given } = process.env;
  // The specification says that a relative one is to be ignored.
  const base = given !== undefined && isAbsolute(given) ? given : join(homedir(), '.local/state');
  return join(base, 'concerto');
}

/** Where a project's state is, whether it is there or not: by its real path, with its name for people who look. */
export function projectStatePath(project: string): string {
  const real = realPath(project);
  const hash = createHash('sha256').update(real).digest('hex').slice(0, 16);
  const name = basename(real).replaceAll(/[^\w.-]+/g, '-') || 'root';
  return join(stateRoot(), 'projects', `${name}-${hash}`);
}

/** The same, made so that nobody else can look. Throws with what to do where that cannot be had. */
export function makeProjectState(project: string): string {
  const path = projectStatePath(project);
  try {
    for (const folder of [stateRoot(), join(stateRoot(), 'projects'), path]) makePrivate(folder);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `the state of this project cannot be kept in ${path} (${why}); set XDG_STATE_HOME to a folder of yours`,
      {
        cause,
      },
    );
  }
  return path;
}

/** Of every project that has any. */
export function projectStatePaths(): readonly string[] {
  const all = join(stateRoot(), 'projects');
  try {
    return readdirSync(all).map((name) => join(all, name));
  } catch {
    return []; // Nobody has started anything yet.
  }
}

function makePrivate(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = statSync(folder);
  if (process.getuid !== undefined && uid !== process.getuid()) throw new Error(`${folder} belongs to somebody else`);
  if ((mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder; // Not there (any more): it has no state either.
  }
}
