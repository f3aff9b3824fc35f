import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildProgram, EXPLANATIONS, explanationPage } from '@concerto/language';
import { describe, expect, test } from 'vitest';

const rooms = ['../src', '../../../apps/cli/src/language'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
const page = fileURLToPath(new URL('../../../docs/guide/error-codes.md', import.meta.url));

function codesOf(source: string): { code: string; severity: string }[] {
  const { diagnostics } = buildProgram({
    entry: 'main.conc',
    readFile: (path) => (path === 'main.conc' ? source : undefined),
  });
  return diagnostics.map(({ code, severity }) => ({ code, severity }));
}

describe('error codes', () => {
  test('every code that is reported is explained', () => {
    const texts = rooms.flatMap((room) =>
      readdirSync(room, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.ts') && !path.includes('.test.') && !path.includes('explain/'))
        .map((path) => readFileSync(`${room}/${path}`, 'utf8')),
    );
    const used = new Set(texts.flatMap((text) => text.match(/(?<=')C0\d{3}(?=')/g) ?? []));
    expect(new Set(EXPLANATIONS.keys())).toEqual(used);
  });

  const examples = [...EXPLANATIONS].map(([code, explanation]) => ({ code, ...explanation }));

  test.each(examples.filter(({ wrong }) => wrong !== undefined))(
    'the wrong example of $code has it',
    ({ code, wrong }) => {
      expect(codesOf(wrong ?? '').map((one) => one.code)).toContain(code);
    },
  );

  test.each(examples.filter(({ right }) => right !== undefined))(
    'the right example of $code has none',
    ({ code, right }) => {
      const found = codesOf(right ?? '');
      expect(found.filter((one) => one.severity === 'error' || one.code === code)).toEqual([]);
    },
  );

  test('the page of the guide is this', () => {
    if (process.env.UPDATE === '1') writeFileSync(page, explanationPage());
    expect(readFileSync(page, 'utf8')).toBe(explanationPage());
  });
});
