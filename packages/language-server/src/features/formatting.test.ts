import { createSourceFile, formatSource } from '@concerto/language';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { formatDocument } from './formatting.ts';

const LINES = ['let a = 1;', 'let b="😀";', 'emit("x",2);', '', '// e\u0301', 'if true {emit("y", 3);}'];

test('the edit gives the formatted text, whatever stays the same before and behind it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...LINES), fc.constantFrom('\n', '\r\n', '\n    ', '\n\n\n')), {
        maxLength: 12,
      }),
      (lines) => {
        const text = `fn main() {\n    ${lines.map((parts) => parts.join('')).join('')}\n}\n`;
        const wanted = formatSource(text);
        const edits = formatDocument(createSourceFile('a.conc', text));
        const document = TextDocument.create('file:///a.conc', 'concerto', 1, text);
        expect(TextDocument.applyEdits(document, edits)).toBe(wanted.ok ? wanted.value : text);
      },
    ),
  );
});

test('a line in the middle is changed alone', () => {
  const text = 'fn main() {\n    emit("a", 1);\n    emit("b",2);\n    emit("c", 3);\n}\n';
  expect(formatDocument(createSourceFile('a.conc', text))).toEqual([
    {
      range: { start: { line: 2, character: 0 }, end: { line: 3, character: 0 } },
      newText: '    emit("b", 2);\n',
    },
  ]);
});
