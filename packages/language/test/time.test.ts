import { readFileSync } from 'node:fs';
import { buildProgram } from '@concerto/language';
import { expect, test } from 'vitest';
import { runVirtually } from './virtual-world.ts';

/** Not among the programs that others run: it sleeps for days, which pass only here. */
const text = readFileSync(new URL('time.conc', import.meta.url), 'utf8');
const expected = [...text.matchAll(/^\/\/ expect: (.*)$/gm)].map((match) => match[1]);

test.each([false, true])('sleep, now and every; moved to another VM: %s', (throughSnapshots) => {
  const { module } = buildProgram({ entry: 'time.conc', readFile: () => text });
  if (module === undefined) throw new Error('it does not compile');
  const { lines } = runVirtually(module, { entry: 'main', answers: [], events: new Set(), throughSnapshots });
  expect(lines).toEqual(expected);
});
