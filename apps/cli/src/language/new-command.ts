import { defineCommand, parseArguments } from '../arguments.ts';

export const spec = defineCommand({
  name: 'new',
  summary: 'Create a project that checks, tests and runs at once, offline.',
  usage: 'NAME',
  options: {},
  minPositionals: 1,
  maxPositionals: 1,
});

export async function run(argv: string[]): Promise<number> {
  parseArguments(spec, argv);
  throw new Error('not yet');
}
