import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { print } from '../terminal/print.ts';
import { noteFacts } from './project-state.ts';

export const spec = defineCommand({
  name: 'trust',
  summary: 'Trust the files of a folder: its Concerto.toml may start programs, its store is used.',
  usage: '[FOLDER]',
  options: {
    forget: { type: 'boolean', help: 'trust it no more' },
  },
  maxPositionals: 1,
});

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  const folder = resolve(positionals[0] ?? '.');
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`there is no folder ${folder}`);
  noteFacts(folder, { trusted: !values.forget, ...(values.forget ? { madeStore: false } : {}) });
  print(`${folder} is ${values.forget ? 'not trusted any more' : 'trusted'}`);
  return 0;
}
