import { harmless, harmlessJson } from '@concerto/base';
import { harmlessButStyles } from './paint.ts';

/*
 * The ways to a person's terminal. Whatever is in a text, be it of an agent, a program or a file of a clone: it may be in
 * colour, and does nothing else. `tools/tidy` keeps other files from writing there by themselves.
 */

export function print(text: string): void {
  write(`${text}\n`);
}

/** As `print`, without the end of the line. */
export function write(text: string): void {
  process.stdout.write(harmlessButStyles(text));
}

/** On stderr: what is said about the work, beside its result. */
export function tell(text: string): void {
  process.stderr.write(harmlessButStyles(text));
}

/** To other programs as it is, to a person harmless. */
export function pass(text: string): void {
  process.stdout.write(process.stdout.isTTY ? harmlessButStyles(text) : text);
}

export function printJson(value: object): void {
  print(harmlessJson(value, 2));
}

/** A line for each. */
export function printJsonLine(value: object): void {
  print(harmlessJson(value));
}

export function printError(message: string): void {
  process.stderr.write(`error: ${harmless(message)}\n`);
}
