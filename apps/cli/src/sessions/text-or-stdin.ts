import { text } from 'node:stream/consumers';
import { UsageError } from '../arguments.ts';
import { tell } from '../terminal/print.ts';

let whole: Promise<string> | undefined;

/** `-` is what standard input has, whole; the line end that a pipe adds is not part of it. */
export async function textOrStdin(given: string): Promise<string> {
  if (given !== '-') return given;
  if (process.stdin.isTTY) tell('reading what you type; Ctrl-D ends it\n');
  const read = (await (whole ??= text(process.stdin))).replace(/\r?\n$/, '');
  if (read === '') throw new UsageError('standard input is empty');
  return read;
}
