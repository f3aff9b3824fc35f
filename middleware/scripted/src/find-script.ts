import { readFileSync } from 'node:fs';
import { nearest } from '@concerto/base';
import { parseScript, type Script, ScriptError } from './script.ts';
import demo from './scripts/demo.json' with { type: 'json' };
import echo from './scripts/echo.json' with { type: 'json' };
import flaky from './scripts/flaky.json' with { type: 'json' };
import slow from './scripts/slow.json' with { type: 'json' };

const builtin = new Map<string, unknown>(Object.entries({ demo, echo, flaky, slow }));

export function builtinScripts(): string[] {
  return [...builtin.keys()];
}

/** A builtin script by its name, else one from a file. */
export function findScript(nameOrFile: string): Script {
  if (builtin.has(nameOrFile)) return parseScript(builtin.get(nameOrFile), nameOrFile);
  if (/[/\\.]/.test(nameOrFile)) return readScript(nameOrFile);
  const names = builtinScripts();
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
    // Without the mark that says how it is written.
    return parseScript(JSON.parse(text.replace(/^\uFEFF/, '')), file);
  } catch (cause) {
    if (cause instanceof ScriptError) throw cause;
    throw new ScriptError(`the script ${file} is not JSON: ${messageOf(cause)}`, { cause });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
