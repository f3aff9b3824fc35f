import { readFileSync } from 'node:fs';
import { buildProgram, readManifest } from '@concerto/language';
import { describe, expect, test } from 'vitest';
import { runVirtually } from './virtual-world.ts';

const guide = readFileSync(new URL('../../../docs/guide/language.md', import.meta.url), 'utf8');
const programs = [...guide.matchAll(/^## (.*)\n[\s\S]*?^```concerto\n([\s\S]*?)^```/gm)].map(
  ([, title = '', text = '']) => ({
    title,
    text,
  }),
);

const { manifest } = readManifest(
  `[project]
name = "g"
version = "1"
entry = "g.conc"
[connections.main]
provider = "mock"
[agents.coder]
transport = "stdio"
command = "coder"
`,
);

describe('the guide', () => {
  test('has programs', () => expect(programs.length).toBeGreaterThan(5));

  test.each(programs)('$title', ({ text }) => {
    const { module, diagnostics } = buildProgram({ entry: 'g.conc', readFile: () => text, manifest });
    expect(diagnostics.map(({ message }) => message)).toEqual([]);
    if (module === undefined) return;
    const options = { answers: [], events: new Set<string>(), throughSnapshots: false };
    const { lines } = runVirtually(module, { ...options, entry: 'main' });
    expect(lines).toEqual([...text.matchAll(/^\/\/ (\[emit:.*)$/gm)].map(([, line]) => line));
    const failed = module.tests.filter((one, index) => {
      const { outcome } = runVirtually(module, { ...options, entry: { test: index } });
      return outcome.status === 'failed' && one.expectFail === undefined;
    });
    expect(failed).toEqual([]);
  });
});
