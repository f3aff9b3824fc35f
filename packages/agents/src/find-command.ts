import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve, sep } from 'node:path';
import { AgentError } from './agent-error.ts';

type Lookup = {
  readonly agent: string;
  readonly command: string;
  readonly workingDir: string;
  readonly path: string;
  /** How it comes to be there, where we know it. */
  readonly install?: string | undefined;
};

/**
 * The program's own path. Looked up here and not left to `spawn`, whose ENOENT does not tell a missing command from a
 * missing directory, nor where it was looked for.
 */
export async function findCommand({ agent, command, workingDir, path, install }: Lookup): Promise<string> {
  if (command.trim() === '') throw failed(agent, 'its `command` is empty', 'name a program in the manifest');
  await checkDirectory(agent, workingDir);
  const candidates = hasFolder(command)
    ? [isAbsolute(command) ? command : resolve(workingDir, command)]
    : path
        .split(delimiter)
        .filter((folder) => folder !== '')
        .map((folder) => join(folder, command));
  let found: { readonly file: string; readonly state: 'folder' | 'not-executable' } | undefined;
  for (const file of candidates) {
    const state = await stateOf(file);
    if (state === 'runs') return file;
    if (state !== 'missing') found ??= { file, state };
  }
  if (found?.state === 'folder')
    throw failed(agent, `${found.file} is a folder`, 'name the program in it as the command');
  if (found !== undefined) {
    const advice = `run \`chmod +x ${found.file}\`, or name its interpreter as the command`;
    throw failed(agent, `${found.file} is not an executable file`, advice);
  }
  const where = hasFolder(command)
    ? `${candidates.join('')} does not exist`
    : `it is in none of the folders of PATH: ${path}`;
  throw failed(
    agent,
    `command "${command}" was not found: ${where}`,
    `install it${install === undefined ? '' : ` with \`${install}\``}, or correct \`command\` in the manifest`,
  );
}

function hasFolder(command: string): boolean {
  return command.includes('/') || command.includes(sep);
}

async function checkDirectory(agent: string, workingDir: string): Promise<void> {
  const found = await stat(workingDir).catch(() => undefined);
  const advice = 'create it, or correct `working_dir` in the manifest';
  if (found === undefined) throw failed(agent, `its working_dir ${workingDir} does not exist`, advice);
  if (!found.isDirectory()) throw failed(agent, `its working_dir ${workingDir} is not a directory`, advice);
}

async function stateOf(file: string): Promise<'runs' | 'folder' | 'not-executable' | 'missing'> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined) return 'missing';
  if (found.isDirectory()) return 'folder';
  if (!found.isFile()) return 'not-executable';
  return access(file, constants.X_OK).then(
    () => 'runs' as const,
    () => 'not-executable' as const,
  );
}

function failed(agent: string, why: string, advice: string): AgentError {
  return new AgentError('spawn-failed', `agent "${agent}" cannot start: ${why}`, { advice });
}
