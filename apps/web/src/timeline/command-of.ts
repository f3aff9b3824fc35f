import type { Json } from '@concerto/base';
import { isJsonObject } from '../json/json-object.ts';

/** The command that a call or an approval is about, as one would type it; words that a shell would split are quoted. */
export function commandOf(fields: Json | undefined): string | undefined {
  const { command, args } = isJsonObject(fields) ? fields : {};
  if (typeof command === 'string') return command.trim() === '' ? undefined : [command, ...wordsOf(args)].join(' ');
  if (!Array.isArray(command) || command.length === 0) return undefined;
  return wordsOf(command).join(' ');
}

/** A command without its arguments would be another one. */
function wordsOf(words: Json | undefined): readonly string[] {
  return Array.isArray(words) ? words.map((word: unknown) => quoted(String(word))) : [];
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
