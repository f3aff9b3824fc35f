import { execFile } from 'node:child_process';
import { mkdir, realpath, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { err, ok, type Result } from '@concerto/base';
import type { ChangeWorktree, Worktree } from '@concerto/protocol';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';

/** Long enough for a big repository; a checkout that takes longer is given up. */
const gitWithinMs = 120_000;
const outputMax = 4 * 1024 * 1024;
const filesShown = 20;

/** In the repository itself, where git does not see it. */
const place = ['.concerto', 'worktrees'] as const;

/** An agent may have written hooks into the repository: they are not run in our name. */
const unhooked = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false'];

export type WorktreeWish = { readonly name: string; readonly share: boolean };

/** What params ask for: `true`, a name, or `{name, share}`; undefined for none. */
export function worktreeWish(asked: unknown, session: string): WorktreeWish | undefined {
  if (asked === undefined || asked === false) return undefined;
  if (asked === true) return { name: session, share: false };
  if (typeof asked === 'string') return { name: asked, share: false };
  const named = typeof asked === 'object' && asked !== null ? asked : {};
  const name = 'name' in named && typeof named.name === 'string' ? named.name : session;
  return { name, share: 'share' in named && named.share === true };
}

/**
 * A checkout of its own for a session that would work in the folder, on a branch of its own from what is checked out
 * there. Gives the same folder within it.
 */
export async function makeWorktree(
  folder: string,
  { name, share }: WorktreeWish,
): Promise<Result<{ readonly worktree: Worktree; readonly workingDir: string }, ServiceRefusal>> {
  const top = await git(folder, 'rev-parse', '--show-toplevel');
  if (!top.ok) return err(refusal('invalid_params', `params.worktree: ${folder} is in no git repository`));
  const repository = top.value;
  if (!(await git(repository, 'rev-parse', '--verify', 'HEAD')).ok) {
    return err(refusal('invalid_params', `params.worktree: ${repository} has no commit to begin from`));
  }
  const path = join(repository, ...place, name);
  const worktree: Worktree = { repository, path, branch: `concerto/${name}`, state: 'made' };
  const made = { worktree, workingDir: join(path, relative(repository, await realpath(folder))) };
  if (await isThere(path)) return share ? ok(made) : err(inUse(name));
  await mkdir(join(repository, ...place), { recursive: true });
  await writeFile(join(repository, ...place, '.gitignore'), '*\n');
  const added = await git(repository, 'worktree', 'add', '-b', worktree.branch, path, 'HEAD');
  if (!added.ok) return err(refusal('worktree_refused', `the checkout ${name} was not made: ${added.error}`));
  return (await isThere(made.workingDir)) ? ok(made) : ok({ ...made, workingDir: path });
}

/** Merges it into what is checked out in its repository, or takes it away; nothing is lost unless `force` says so. */
export async function changeWorktree(
  worktree: Worktree,
  change: ChangeWorktree,
): Promise<Result<Worktree, ServiceRefusal>> {
  if (worktree.state === 'removed') return err(refusal('worktree_removed', `${worktree.branch} was removed before`));
  return change.action === 'merge' ? await merge(worktree, change) : await remove(worktree, change.force === true);
}

async function merge(worktree: Worktree, { commit }: ChangeWorktree): Promise<Result<Worktree, ServiceRefusal>> {
  const { repository, path, branch } = worktree;
  const changed = await changedFiles(path);
  if (changed.length > 0 && commit === undefined) return err(dirty(branch, changed, 'commit'));
  if (changed.length > 0 && commit !== undefined) {
    const committed = await commitAll(path, commit);
    if (!committed.ok) return err(refusal('worktree_refused', `nothing was committed: ${committed.error}`));
  }
  const into = await git(repository, 'branch', '--show-current');
  if (!into.ok || into.value === '') {
    return err(refusal('worktree_refused', `no branch is checked out in ${repository} to merge into`));
  }
  const merged = await git(repository, 'merge', '--no-edit', branch);
  if (merged.ok) return ok({ ...worktree, state: 'merged', into: into.value });
  const conflicts = await git(repository, 'diff', '--name-only', '--diff-filter=U');
  const files = conflicts.ok ? linesOf(conflicts.value) : [];
  if (files.length === 0) {
    return err(refusal('worktree_refused', `${branch} was not merged into ${into.value}: ${merged.error}`));
  }
  await git(repository, 'merge', '--abort');
  const message = `${branch} does not merge into ${into.value}: ${files.slice(0, filesShown).join(', ')}; nothing was changed`;
  return err(refusal('merge_conflict', message, { files: files.slice(0, filesShown) }));
}

async function remove(worktree: Worktree, force: boolean): Promise<Result<Worktree, ServiceRefusal>> {
  const { repository, path, branch } = worktree;
  if (!force) {
    const changed = await changedFiles(path);
    if (changed.length > 0) return err(dirty(branch, changed, 'force'));
    if (!(await git(repository, 'merge-base', '--is-ancestor', branch, 'HEAD')).ok) {
      return err(refusal('worktree_unmerged', `${branch} has commits that are not merged; merge it, or say \`force\``));
    }
  }
  const removed = await git(repository, 'worktree', 'remove', ...(force ? ['--force'] : []), path);
  if (!removed.ok && (await isThere(path))) {
    return err(refusal('worktree_refused', `${path} was not removed: ${removed.error}`));
  }
  await git(repository, 'worktree', 'prune');
  await git(repository, 'branch', '-D', branch);
  return ok({ ...worktree, state: 'removed' });
}

async function commitAll(path: string, message: string): Promise<Result<string, string>> {
  const added = await git(path, 'add', '--all');
  if (!added.ok) return added;
  const known = await git(path, 'config', 'user.email');
  const who = known.ok ? [] : ['-c', 'user.name=Concerto', '-c', 'user.email=concerto@localhost'];
  return await git(path, ...who, 'commit', '--message', message);
}

async function changedFiles(path: string): Promise<readonly string[]> {
  const status = await git(path, 'status', '--porcelain');
  return status.ok ? linesOf(status.value).map((line) => line.slice(3)) : [];
}

function dirty(branch: string, files: readonly string[], how: 'commit' | 'force'): ServiceRefusal {
  const shown = files.slice(0, filesShown);
  const message = `${branch} has changes that are not committed: ${shown.join(', ')}; \`${how}\` takes them along`;
  return refusal('worktree_dirty', how === 'force' ? message.replace('takes them along', 'loses them') : message, {
    files: shown,
  });
}

function inUse(name: string): ServiceRefusal {
  const message = `the checkout ${JSON.stringify(name)} is that of another session; name another, or say {"name": ${JSON.stringify(name)}, "share": true}`;
  return refusal('worktree_in_use', message);
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** What it printed, or what it has against it. */
async function git(folder: string, ...args: readonly string[]): Promise<Result<string, string>> {
  // Variables such as GIT_DIR would make it look elsewhere.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
  return await new Promise((resolve) => {
    execFile(
      'git',
      ['-C', folder, ...unhooked, ...args],
      { env: { ...env, GIT_TERMINAL_PROMPT: '0' }, timeout: gitWithinMs, maxBuffer: outputMax },
      (error, stdout, stderr) => {
        if (error === null) return resolve(ok(stdout.replace(/\n$/, '')));
        const why = stderr.trim() === '' ? stdout.trim() : stderr.trim();
        resolve(err(why === '' ? error.message : why.split('\n').slice(-3).join(' ')));
      },
    );
  });
}
