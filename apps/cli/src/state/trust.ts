import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { harmlessLine } from '@concerto/base';
import { ownRoot } from '../own-place.ts';
import { tell } from '../terminal/print.ts';
import { screenSize } from '../terminal/table.ts';
import { cut } from '../terminal/wrap.ts';
import { noteFacts, projectFacts } from './project-state.ts';

export type TrustQuestion = {
  /** The folder whose manifest was found, not named. */
  readonly folder: string;
  /** The command line says that the folder is trusted. */
  readonly given: boolean;
  /** What the manifest would have us start. */
  readonly commands: readonly string[];
};

const shownMax = 8;

/**
 * A manifest starts programs and configures the server, and a clone brings its author's. Whoever is at a terminal is
 * asked once for each folder; elsewhere a folder that was cloned is refused until somebody has said so.
 * Resolves when the folder may be used; throws with what to do when it may not.
 */
export async function ensureTrust({ folder, given, commands }: TrustQuestion): Promise<void> {
  if (given) return noteFacts(folder, { trusted: true });
  if (isTrusted(folder)) return;
  const isPerson = process.stdin.isTTY && process.stderr.isTTY;
  if (!isPerson) {
    if (!isClone(folder)) return;
    throw new Error(
      `${folder} was cloned from elsewhere, and its Concerto.toml may start programs on this machine.\nRead it; then trust the folder once with \`concerto trust\`, or start with --trust.`,
    );
  }
  tell(`Concerto.toml in ${folder} can start programs on this machine, as you.${startsOf(commands)}\n`);
  if (!(await saysYes('Do you trust the files in this folder? [y/N] ')))
    throw new Error('the folder is not trusted, so nothing was started; `concerto trust` trusts it');
  noteFacts(folder, { trusted: true });
}

function startsOf(commands: readonly string[]): string {
  if (commands.length === 0) return '';
  const lines = commands
    .slice(0, shownMax)
    .map((command) => `\n  ${cut(harmlessLine(command), screenSize().columns - 4)}`);
  const more = commands.length > shownMax ? `\n  and ${commands.length - shownMax} more` : '';
  return ` It names:${lines.join('')}${more}`;
}

export function isTrusted(folder: string): boolean {
  return projectFacts(folder).trusted || isOurOwn(folder);
}

async function saysYes(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new AbortController();
  const onClose = (): void => {
    tell('\n'); // What comes next is no answer to the question.
    closed.abort();
  };
  terminal.once('close', onClose);
  try {
    return /^y(es)?$/i.test((await terminal.question(question, { signal: closed.signal })).trim());
  } catch (cause) {
    if (closed.signal.aborted) return false;
    throw cause;
  } finally {
    // By name: it has listeners of its own there, without which it goes on hearing what is typed.
    terminal.off('close', onClose);
    terminal.close();
  }
}

/** What came with the program that runs is as good as the program. */
function isOurOwn(folder: string): boolean {
  const root = ownRoot();
  return resolve(folder) === root || resolve(folder).startsWith(root + sep);
}

/** Within a repository that knows another one. */
function isClone(folder: string): boolean {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const git = join(at, '.git');
    // A worktree or submodule has a file there; that it is a clone is likely, and asking does no harm.
    if (existsSync(git)) return !statSync(git).isDirectory() || /^\s*\[remote /m.test(readIfThere(join(git, 'config')));
    if (dirname(at) === at) return false;
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // A repository without a configuration has no remote.
  }
}
