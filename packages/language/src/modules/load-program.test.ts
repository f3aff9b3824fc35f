import { describe, expect, test } from 'vitest';
import { diagnose } from '../check/testing/check-source.ts';
import { moduleCandidates } from './module-path.ts';

describe('where a module may be', () => {
  test('beside the declaring file, as a file or a folder', () => {
    expect(moduleCandidates('src/main.conc', [], 'text').slice(0, 2)).toEqual(['src/text.conc', 'src/text/mod.conc']);
  });

  test('in a folder of the inline module around the declaration', () => {
    expect(moduleCandidates('main.conc', ['outer'], 'inner')[0]).toBe('outer/inner.conc');
  });
});

describe('programs of several files', () => {
  test('a folder module, a nested file, and what they re-export', () => {
    const files = {
      'text/mod.conc': 'mod case;\npub use case::shout;\npub fn twice(s: String) -> String { s + s }\n',
      'text/case.conc': 'pub fn shout(s: String) -> String { s.to_uppercase() }\n',
    };
    const source = 'mod text;\nuse text::shout;\nfn main() { emit("s", shout("a") + text::twice("b")); }\n';
    expect(diagnose(source, { files })).toEqual([]);
  });

  test('a mistake names the file it is in', () => {
    const files = { 'util.conc': 'pub fn f() -> Int { "x" }\n' };
    const told = diagnose('mod util;\nfn main() { emit("x", util::f()); }\n', { files });
    expect(told).toEqual(['util.conc:1 error C0205 `return` value: expected `Int`, found `String`']);
  });

  test('what is private in a file stays there', () => {
    const files = { 'util.conc': 'pub fn open() -> Int { closed() }\nfn closed() -> Int { 1 }\n' };
    const told = diagnose('mod util;\nfn main() {\n  emit("x", util::open());\n  emit("y", util::closed());\n}\n', {
      files,
    });
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/^4 error C0227 .*closed/);
  });

  test('a missing file is an error that says where it was looked for', () => {
    expect(diagnose('mod nowhere;\n')).toEqual(['1 error C0228 no file found for module `nowhere`']);
  });

  test('files that include one another are an error, not an endless loop', () => {
    const files = { 'a.conc': 'mod b;\n', 'b.conc': 'mod a;\n' };
    const told = diagnose('mod a;\n', { files });
    expect(told.some((line) => line.includes('C0237') && line.includes('a.conc'))).toBe(true);
  });
});
