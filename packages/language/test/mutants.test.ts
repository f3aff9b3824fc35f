import { checkModule } from '@concerto/ir';
import { buildProgram } from '@concerto/language';
import { type Answer, createVm, type Effect, resume, run } from '@concerto/vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readProgramFiles } from './program-file.ts';

const sources = readProgramFiles().map(({ text }) => tokens(text.replaceAll(/^\/\/ .*$/gm, '')));
const words = sources.flat().filter((token) => token.trim() !== '');

function tokens(text: string): string[] {
  return text.match(/"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*|\d+(?:\.\d+)?|\s+|[^\sA-Za-z0-9_"]/g) ?? [];
}

type Edit = { readonly at: number; readonly kind: 'drop' | 'repeat' | 'replace' | 'swap'; readonly other: number };

const edits = fc.array(
  fc.record<Edit>({
    at: fc.nat(),
    kind: fc.constantFrom('drop', 'repeat', 'replace', 'swap'),
    other: fc.nat(),
  }),
  { minLength: 1, maxLength: 3 },
);

function mutate(source: readonly string[], changes: readonly Edit[]): string {
  const text = [...source];
  for (const { at, kind, other } of changes) {
    const place = at % text.length;
    const token = text[place] ?? '';
    const second = other % text.length;
    if (kind === 'drop') text.splice(place, 1);
    if (kind === 'repeat') text.splice(place, 0, text[second] ?? '');
    if (kind === 'replace') text[place] = words[other % words.length] ?? '';
    if (kind === 'swap') {
      text[place] = text[second] ?? '';
      text[second] = token;
    }
  }
  return text.join('');
}

test('a damaged program is refused, or compiles to a module that runs without crashing the VM', () => {
  let compiled = 0;
  fc.assert(
    fc.property(fc.nat(), edits, (which, changes) => {
      const text = mutate(sources[which % sources.length] ?? [], changes);
      const { module } = buildProgram({
        entry: 'main.conc',
        readFile: (path) => (path === 'main.conc' ? text : undefined),
      });
      if (module === undefined) return;
      compiled++;
      const checked = checkModule(JSON.parse(JSON.stringify(module)));
      if (!checked.ok) throw new Error(checked.error);
      const vm = createVm(checked.value, { entry: 'main', limits: { steps: 200_000, size: 100_000 } });
      for (let turn = 0; turn < 100; turn++) {
        const result = run(vm, 50_000);
        if (result.status === 'done' || result.status === 'failed') return;
        for (const effect of result.effects) if ('id' in effect) resume(vm, effect.id, answerTo(effect));
      }
    }),
    { numRuns: Number(process.env.MUTANTS ?? 400) },
  );
  // The test would mean nothing if every mutant were refused.
  expect(compiled).toBeGreaterThan(0);
});

function answerTo(effect: Effect): Answer {
  switch (effect.kind) {
    case 'now':
      return { ok: true, value: 0 };
    case 'random':
      return { ok: true, value: effect.of === 'float' || effect.of === 'int' ? 1 : '00' };
    case 'ask':
    case 'sleep':
    case 'env':
    case 'flush':
      return { ok: true, value: null };
    default:
      return { ok: false, error: { message: 'not here' } };
  }
}
