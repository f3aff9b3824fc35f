import { manifestJsonSchema } from '@concerto/language';
import { openApiDocument } from '@concerto/server';
import { defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { ownVersion } from '../own-place.ts';
import { printJson } from '../terminal/print.ts';

export const spec = defineCommand({
  name: 'schema',
  summary: 'Print the JSON schema of Concerto.toml, or the OpenAPI document of the server.',
  usage: '[manifest | openapi]',
  options: {},
  maxPositionals: 1,
  details: 'For editors and other tools that complete and check TOML by a schema, and for those that make clients.',
});

export async function run(argv: string[]): Promise<number> {
  const [what = 'manifest'] = parseArguments(spec, argv).positionals;
  if (what !== 'manifest' && what !== 'openapi')
    throw new UsageError(`there is no schema of ${what}; manifest or openapi`);
  const schema = what === 'manifest' ? manifestJsonSchema() : openApiDocument(ownVersion());
  printJson(schema);
  return 0;
}
