import type { Json } from '@concerto/base';
import { isJsonObject } from '../json/json-object.ts';

/** The command that a call or an approval is about, as one would type it; words that a shell would split are quoted. */
export function commandOf(fields: Json | undefined): string | undefined {
  const command = isJsonObject(fields) ? fields.command : undefined;
  if (typeof command === 'string') return command.trim() === '' ? undefined : command;
  if (!Array.isArray(command) || command.length === 0) return undefined;
  return command.map((word: unknown) => quoted(String(word))).join(' ');
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
