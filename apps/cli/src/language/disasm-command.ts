import { disassemble } from '@concerto/ir';
import { defineCommand, parseArguments } from '../arguments.ts';
import { pass } from '../terminal/print.ts';
import { compileTarget } from './compile-target.ts';

export const spec = defineCommand({
  name: 'disasm',
  summary: 'Print a compiled program as readable instructions.',
  usage: 'FILE',
  options: {},
  minPositionals: 1,
  maxPositionals: 1,
  details: 'FILE is a compiled program (.conc-ir) or a source (.conc), which is compiled first.',
});

export async function run(argv: string[]): Promise<number> {
  const { positionals } = parseArguments(spec, argv);
  const target = compileTarget(positionals[0]);
  if (target === undefined) return 1;
  pass(disassemble(target.module));
  return 0;
}
