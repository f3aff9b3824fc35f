import { harmless, harmlessJson } from '@concerto/base';

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: object): void {
  print(harmlessJson(value, 2));
}

export function printError(message: string): void {
  process.stderr.write(`error: ${harmless(message)}\n`);
}
