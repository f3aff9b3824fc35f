import { expect, test } from 'vitest';
import { buildProgram } from '../build-program.ts';
import { formatSource } from '../format/format-source.ts';
import { mentionsStdTools, STD_TOOLS, STD_TOOLS_TEXT } from './std-tools.ts';

const build = (text: string) => buildProgram({ entry: 'main.conc', readFile: () => text });

test('is in the one style', () => {
  const text = STD_TOOLS_TEXT.trimStart();
  expect(formatSource(text, STD_TOOLS)).toEqual({ ok: true, value: text });
});

test.each([
  'use std::tools::FileTool;\nfn main() { emit("a", FileTool.list(".")); }',
  'use std::tools;\nfn main() { emit("a", tools::FileTool.list(".")); }',
  'use std::{json, tools::FileTool};\nfn main() { emit("a", json::stringify(FileTool.list("."))); }',
  'use std::tools::*;\nfn main() { emit("a", FileTool.list(".")); }',
  'fn main() { emit("a", std::tools::FileTool.list(".")); }',
  'model M { provider: p, tools: [std::tools::HttpTool] }\nfn main() { emit("a", M.execute("x")); }',
])('is found by its name, and gives no diagnostics: %j', (text) => {
  const { module, diagnostics } = build(text);
  expect(diagnostics).toEqual([]);
  expect(module?.tools.map(({ name }) => name)).toEqual(['HttpTool', 'FileTool']);
});

test('is not part of a program that does not mention it', () => {
  expect(mentionsStdTools('use std::json;\nfn tools() {}')).toBe(false);
  expect(build('fn main() { emit("a", 1); }').module?.tools).toEqual([]);
});

test('what it does not have is an error in the program', () => {
  const { diagnostics } = build('fn main() { emit("a", std::tools::FilTool.list(".")); }');
  expect(diagnostics.map(({ file, message }) => [file, message])).toEqual([
    ['main.conc', 'cannot find `FilTool` in `std::tools`'],
  ]);
});
