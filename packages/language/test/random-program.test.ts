import { buildProgram } from '@concerto/language';
import { display } from '@concerto/vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type RandomProgram, randomProgram } from './random-program.ts';
import { randomRecords } from './random-records.ts';
import { runVirtually } from './virtual-world.ts';

const MOST_LINES = 300;

test.each([
  { about: 'control flow and closures', make: randomProgram },
  { about: 'places and copies', make: randomRecords },
])('compiled programs about $about do what the same JavaScript does', ({ make }) => {
  fc.assert(
    fc.property(fc.integer({ min: 1 }), (seed) => {
      const program = make(seed);
      const { javascript, concerto } = program;
      expect({ ...runConcerto(program), concerto }).toEqual({ ...runJavaScript(javascript), concerto });
    }),
    { numRuns: Number(process.env.RANDOM_PROGRAMS ?? 300) },
  );
});

interface Ran {
  readonly lines: readonly string[];
  readonly failed: boolean;
}

function runConcerto({ concerto }: RandomProgram): Ran {
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => concerto });
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  if (module === undefined) return { lines: errors, failed: true };
  const options = { entry: 'main', answers: [], events: new Set<string>(), throughSnapshots: false } as const;
  const { lines, outcome } = runVirtually(module, options);
  return { lines: lines.slice(0, MOST_LINES), failed: outcome.status === 'failed' };
}

function runJavaScript(body: string): Ran {
  const lines: string[] = [];
  const log = (value: number | number[]): void => {
    const shown = Array.isArray(value)
      ? `[${value.map((item) => display(whole(item))).join(', ')}]`
      : display(whole(value));
    lines.push(`[emit:v] ${shown}`);
  };
  const element = (items: readonly number[], index: number): number | undefined => items[index];
  const safe = (value: number): number => {
    if (!Number.isSafeInteger(value)) throw new Error('overflow');
    return value;
  };
  const divide = (left: number, right: number): number => {
    if (right === 0) throw new Error('division by zero');
    return Math.trunc(left / right);
  };
  try {
    // oxlint-disable-next-line typescript/no-implied-eval -- the program was made by the test itself
    new Function('log', 'copy', 'element', 'divide', 'safe', body)(log, structuredClone, element, divide, safe);
    return { lines: lines.slice(0, MOST_LINES), failed: false };
  } catch (cause) {
    if (cause instanceof SyntaxError || cause instanceof ReferenceError || cause instanceof TypeError) throw cause;
    return { lines: lines.slice(0, MOST_LINES), failed: true };
  }
}

/** JavaScript has a negative zero where an Int has none. */
function whole(value: number): number {
  return value === 0 ? 0 : value;
}
