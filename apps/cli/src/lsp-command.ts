import { serveLanguage } from '@concerto/language-server';
import { defineCommand, parseArguments, UsageError } from './arguments.ts';
import { ownVersion } from './own-place.ts';

export const spec = defineCommand({
  name: 'lsp',
  summary: 'Serve an editor: the language server.',
  usage: '--stdio',
  options: {
    stdio: { type: 'boolean', help: 'speak the Language Server Protocol on standard input and output' },
    clientProcessId: { type: 'string', value: 'PID', help: 'end when this process does; editors give it themselves' },
  },
  maxPositionals: 0,
  details: 'An editor starts it; docs/guide/editor.md has the setup for some of them.',
});

export async function run(argv: string[]): Promise<number> {
  const { values } = parseArguments(spec, argv);
  if (!values.stdio) throw new UsageError('an editor is served over --stdio; there is no other way yet');
  serveLanguage({ input: process.stdin, output: process.stdout, version: ownVersion() });
  // The protocol says when the process ends, and with which code.
  return new Promise<number>(() => undefined);
}
