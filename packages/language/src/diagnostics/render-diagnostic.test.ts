import { describe, expect, test } from 'vitest';
import { createSourceFile } from '../source/source-file.ts';
import type { Diagnostic } from './diagnostic.ts';
import { renderDiagnostic } from './render-diagnostic.ts';

const TEXT = 'fn main() {\n\tlet héllo😀 = "a";\n    other\n}\n';
const file = createSourceFile('src/main.conc', TEXT);
const other = createSourceFile('other.conc', 'let x = 1;');

function render(extra: Partial<Diagnostic>, color = false): string {
  const diagnostic: Diagnostic = {
    code: 'C0205',
    severity: 'error',
    message: 'wrong type',
    file: 'src/main.conc',
    span: { start: TEXT.indexOf('"a"'), end: TEXT.indexOf('"a"') + 3 },
    labels: [],
    ...extra,
  };
  return renderDiagnostic(diagnostic, (path) => [file, other].find((candidate) => candidate.path === path), { color });
}

describe('renderDiagnostic', () => {
  test('shows code, place, line and caret; tabs and wide letters keep the caret in place', () => {
    expect(render({ help: 'write a number' })).toBe(`error[C0205]: wrong type
 --> src/main.conc:2:15
  |
2 |     let héllo😀 = "a";
  |                   ^^^
  |
  = help: write a number
`);
  });

  test('shows second places in order, also in other files', () => {
    const labels = [
      { span: { start: 3, end: 7 }, message: 'in here' },
      { span: { start: 4, end: 5 }, message: 'and this', file: 'other.conc' },
    ];
    const span = { start: TEXT.indexOf('other'), end: TEXT.length };
    expect(render({ labels, span })).toBe(`error[C0205]: wrong type
 --> src/main.conc:3:5
  |
1 | fn main() {
  |    ---- in here
...
3 |     other
  |     ^^^^^
  |
 ::: other.conc:1:5
  |
1 | let x = 1;
  |     - and this
  |
`);
  });

  test('without the file there is still the message', () => {
    expect(render({ file: 'gone.conc' })).toBe('error[C0205]: wrong type\n --> gone.conc\n');
  });

  test('colours only when asked', () => {
    expect(render({}, true)).toContain('\u001b[1;31merror[C0205]\u001b[0m');
    expect(render({})).not.toContain('\u001b');
  });
});
