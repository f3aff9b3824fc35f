import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nearest } from '@concerto/base';
import { parseScript, type Script, ScriptError } from './script.ts';

const folder = join(import.meta.dirname, '..', 'scripts');

export function builtinScripts(): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .toSorted();
}

/** A builtin script by its name, else one from a file. */
export function findScript(nameOrFile: string): Script {
  const names = builtinScripts();
  if (names.includes(nameOrFile)) return readScript(join(folder, `${nameOrFile}.json`));
  if (/[/\\.]/.test(nameOrFile)) return readScript(nameOrFile);
  const close = nearest(nameOrFile, names);
  const meant = close === undefined ? '' : ` Did you mean "${close}"?`;
  throw new ScriptError(
    `there is no script "${nameOrFile}".${meant} Builtin are ${names.join(', ')}; a file is named with its path`,
  );
}

function readScript(file: string): Script {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ScriptError(`the script ${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
  try {
    return parseScript(JSON.parse(text), file);
  } catch (cause) {
    if (cause instanceof ScriptError) throw cause;
    throw new ScriptError(`the script ${file} is not JSON: ${messageOf(cause)}`, { cause });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
