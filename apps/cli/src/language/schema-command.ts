import { manifestJsonSchema } from '@concerto/language';
import { defineCommand, parseArguments } from '../arguments.ts';

export const spec = defineCommand({
  name: 'schema',
  summary: 'Print the JSON schema of Concerto.toml.',
  usage: '',
  options: {},
  maxPositionals: 0,
  details: 'For editors and other tools that complete and check TOML by a schema.',
});

export async function run(argv: string[]): Promise<number> {
  parseArguments(spec, argv);
  process.stdout.write(`${JSON.stringify(manifestJsonSchema(), undefined, 2)}\n`);
  return 0;
}
