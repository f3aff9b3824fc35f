import { writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { formatModule } from '@concerto/ir';
import { defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { pass, tell } from '../terminal/print.ts';
import { compileTarget, compileWithServers } from './compile-target.ts';

export const spec = defineCommand({
  name: 'build',
  summary: 'Compile a program to a file that runs without its sources.',
  usage: 'FILE|DIR [-o OUT]',
  options: {
    mcp: { type: 'boolean', help: 'ask the MCP servers it declares which tools they have, and check against them' },
    output: {
      type: 'string',
      short: 'o',
      value: 'OUT',
      help: 'where to write; default: FILE with .conc-ir, - for standard output',
    },
  },
  maxPositionals: 1,
});

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  if (positionals[0]?.endsWith('.conc-ir') === true) throw new UsageError(`${positionals[0]} is compiled already`);
  const target = await (values.mcp ? compileWithServers : compileTarget)(positionals[0]);
  if (target === undefined) return 1;
  const text = formatModule(target.module);
  const path = values.output ?? join(dirname(target.entry), `${basename(target.entry, '.conc')}.conc-ir`);
  if (path === '-') pass(text);
  else writeOutput(path, text);
  return 0;
}

function writeOutput(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (cause) {
    throw new Error(`cannot write ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  tell(`wrote ${path}\n`);
}
