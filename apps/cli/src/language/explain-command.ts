import { EXPLANATIONS, explanationText, findExplanation } from '@concerto/language';
import { defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { write } from '../terminal/print.ts';

export const spec = defineCommand({
  name: 'explain',
  summary: 'Say what an error code means.',
  usage: '[CODE]',
  options: {},
  maxPositionals: 1,
  details: 'CODE is one that `check` or `run` has shown, such as C0210; without one all of them are listed.',
});

export async function run(argv: string[]): Promise<number> {
  const { positionals } = parseArguments(spec, argv);
  const [code] = positionals;
  if (code === undefined) {
    for (const [known, { title }] of EXPLANATIONS) write(`${known}  ${title}\n`);
    return 0;
  }
  const found = findExplanation(code);
  if ('meant' in found) {
    const hint = found.meant === undefined ? '`concerto explain` lists all of them' : `did you mean ${found.meant}?`;
    throw new UsageError(`there is no error code ${code}; ${hint}`);
  }
  write(explanationText(found.code, found.explanation));
  return 0;
}
