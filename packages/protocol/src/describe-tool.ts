import { beginningOfText, type Json, type JsonObject } from '@concerto/base';

/** Enough to decide by; a whole file that is to be written is in the approval's `input`. */
const shownCharacters = 200;

/** What a person should read before a yes: the command, the file, the address. */
export function describeTool(tool: string, input: JsonObject): string {
  const subject =
    text(input.command) ??
    text(input.file_path) ??
    text(input.notebook_path) ??
    text(input.path) ??
    text(input.url) ??
    text(input.query) ??
    text(input.pattern) ??
    text(input.plan) ??
    text(input.description);
  return subject === undefined ? tool : `${tool}: ${shortened(subject)}`;
}

/** One line of it. */
export function shortened(value: string): string {
  const line = value.replaceAll(/\s*\n\s*/g, ' ⏎ ').trim();
  return line.length <= shownCharacters ? line : beginningOfText(line, shownCharacters - 1);
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
