import { readFileSync, writeFileSync } from 'node:fs';
import { createSourceFile, formatSource } from '@concerto/language';
import { defineCommand, parseArguments } from '../arguments.ts';
import { pass, tell, write } from '../terminal/print.ts';
import { findSources } from './find-sources.ts';
import { printDiagnostics } from './print-diagnostics.ts';

export const spec = defineCommand({
  name: 'fmt',
  summary: 'Format programs in place.',
  usage: '[PATH...]',
  options: {
    check: { type: 'boolean', help: 'change nothing; exit code 1 when something would change' },
  },
  details:
    'A PATH is a file or a directory; without one it is the current directory. `-` formats standard input to standard output.',
});

const STANDARD_INPUT = '-';

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  if (positionals.length === 1 && positionals[0] === STANDARD_INPUT) return formatStandardInput(values.check);
  let failed = false;
  let changed = 0;
  const paths = findSources(positionals);
  for (const path of paths) {
    const text = readFileSync(path, 'utf8');
    const formatted = formatText(path, text);
    if (formatted === undefined) failed = true;
    if (formatted === undefined || formatted === text) continue;
    changed++;
    if (values.check) write(`would change ${path}\n`);
    else writeFileSync(path, formatted);
  }
  tell(summary({ files: paths.length, changed, check: values.check }));
  return failed || (values.check && changed > 0) ? 1 : 0;
}

/** Undefined, and reported, when the text has syntax errors: then nothing is touched. */
function formatText(path: string, text: string): string | undefined {
  const result = formatSource(text, path);
  if (result.ok) return result.value;
  const file = createSourceFile(path, text);
  printDiagnostics(result.error, () => file);
  return undefined;
}

function formatStandardInput(check: boolean): number {
  const text = readFileSync(process.stdin.fd, 'utf8');
  const formatted = formatText('<stdin>', text);
  if (formatted === undefined) return 1;
  if (check) return formatted === text ? 0 : 1;
  pass(formatted);
  return 0;
}

function summary(result: { files: number; changed: number; check: boolean }): string {
  if (result.files === 0) return 'there are no programs here\n';
  const verb = result.check ? 'would change' : 'changed';
  return `${verb} ${result.changed} of ${result.files} file${result.files === 1 ? '' : 's'}\n`;
}
