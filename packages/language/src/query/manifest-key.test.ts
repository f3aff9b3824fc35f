import { describe, expect, test } from 'vitest';
import { createSourceFile, type SourceFile } from '../source/source-file.ts';
import { completeManifest, describeManifestKey } from './manifest-key.ts';

/** The text and the place of its `¦`. */
function at(marked: string): readonly [SourceFile, number] {
  const offset = marked.indexOf('¦');
  return [createSourceFile('Concerto.toml', marked.replace('¦', '')), offset];
}

const completed = (marked: string) => completeManifest(...at(marked));
const labels = (marked: string) => completed(marked).map(({ label }) => label);
const hovered = (marked: string) => describeManifestKey(...at(marked))?.text;

describe('an entry of a list of tables', () => {
  const entries = ['[[rules]]\n', '[agents.coder]\ncommand = "x"\n[[agents.coder.rules]]\n'];

  test.each(entries)('its keys are offered, each with what it is for: %j', (header) => {
    const offered = completed(`${header}risk = "low"\n¦`);
    expect(offered.map(({ label }) => label)).toEqual(expect.arrayContaining(['decide', 'tool', 'command', 'path']));
    expect(offered.map(({ label }) => label)).not.toContain('risk');
    expect(offered.filter(({ doc }) => doc === undefined)).toEqual([]);
    expect(labels(`${header}risk = "low"\n[[rules]]\n¦`)).toContain('risk');
  });

  test.each(entries)('says what a key is for: %j', (header) => {
    expect(hovered(`${header}deci¦de = "allow"\n`)).toMatch(/^`decide: string`\n\n`allow`, `deny`/);
    expect(labels(`${header}risk = ¦`)).toEqual(['low', 'medium', 'high']);
  });

  test('its header is that of the whole list', () => {
    expect(hovered('[[ru¦les]]\n')).toMatch(/^`\[\[rules\]\]`\n\nWhat is answered without a person, for all/);
    expect(hovered('[[agents.a.ru¦les]]\n')).toMatch(/^`\[\[agents\.a\.rules\]\]`\n\nWhat is answered/);
    expect(labels('[[¦')).toEqual(expect.arrayContaining(['rules', 'agents']));
    expect(labels('[[agents.coder.¦')).toContain('rules');
    expect(labels('[¦')).not.toContain('rules');
  });
});

test('a value that may have several forms: the keys of its table', () => {
  expect(hovered('[assistants.a.tools]\nde¦ny = ["x"]\n')).toContain('Tools that it may not call.');
  expect(hovered('[assistants.a.to¦ols]\n')).toContain('Names of `[mcp]` servers, or a table');
});
