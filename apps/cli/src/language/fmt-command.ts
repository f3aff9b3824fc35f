import { defineCommand, parseArguments } from '../arguments.ts';

export const spec = defineCommand({
  name: 'fmt',
  summary: 'Format programs.',
  usage: '[PATH...]',
  options: {},
});

export async function run(argv: string[]): Promise<number> {
  parseArguments(spec, argv);
  throw new Error('not yet');
}
