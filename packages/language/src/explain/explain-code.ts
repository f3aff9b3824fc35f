import { nearest } from '@concerto/base';
import { CHECK_CODES } from './check-codes.ts';
import type { Explanation } from './explanation.ts';
import { LINT_CODES } from './lint-codes.ts';
import { SYNTAX_CODES } from './syntax-codes.ts';

/** Every code that a diagnostic can have, in order. */
export const EXPLANATIONS: ReadonlyMap<string, Explanation> = new Map(
  Object.entries<Explanation>({ ...SYNTAX_CODES, ...CHECK_CODES, ...LINT_CODES }).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  ),
);

/** `C0210`, `c210`, `210`; the code that was meant when there is none such. */
export function findExplanation(
  written: string,
): { readonly code: string; readonly explanation: Explanation } | { readonly meant: string | undefined } {
  const code = `C${written.replace(/^c/i, '').padStart(4, '0')}`;
  const explanation = EXPLANATIONS.get(code);
  return explanation === undefined ? { meant: nearest(code, EXPLANATIONS.keys()) } : { code, explanation };
}

/** As text for a terminal. */
export function explanationText(code: string, { title, text, wrong, right }: Explanation): string {
  const indented = (source: string): string => source.replaceAll(/^/gm, '    ');
  const parts = [`${code}: ${title}`, text];
  if (wrong !== undefined) parts.push(`For example:\n\n${indented(wrong)}`);
  if (right !== undefined) parts.push(`Instead:\n\n${indented(right)}`);
  return `${parts.join('\n\n')}\n`;
}

/** The index of all codes as a page. */
export function explanationPage(): string {
  const lines = [
    '# Error codes',
    '',
    '<!-- Written by packages/language/test/error-codes.test.ts out of packages/language/src/explain: run it with UPDATE=1. -->',
    '',
    '`concerto explain C0210` prints the same in a terminal. C00 and C01 are about the text, C02 about what it means, C03 are',
    'warnings, C05 are about `Concerto.toml`.',
  ];
  for (const [code, { title, text, wrong, right }] of EXPLANATIONS) {
    lines.push('', `## ${code}: ${title}`, '', text);
    if (wrong !== undefined) lines.push('', '```', wrong, '```');
    if (right !== undefined) lines.push('', 'Instead:', '', '```', right, '```');
  }
  return `${lines.join('\n')}\n`;
}
