import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildProgram } from '@concerto/language';
import {
  JournalFile,
  ProgramJournal,
  type ProgramOutcome,
  type RunOptions,
  runProgram,
} from '@concerto/runtime/program';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { readProgramFiles } from '../../language/test/program-file.ts';

/** Programs of the language's corpus that compile: each is run, replayed, and ended at any place and gone on with. */
const programs = readProgramFiles().filter(({ errors, warnings }) => errors.length + warnings.length === 0);
const texts = new Map(programs.map(({ path, text }) => [path, text]));
const directory = mkdtempSync(join(tmpdir(), 'concerto-journal-'));
const path = join(directory, 'journal');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

type Module = ConstructorParameters<typeof ProgramJournal>[0];
type Seen = { readonly lines: readonly string[]; readonly end: string };

async function perform(
  module: Module,
  { entry, answers, replayOnly }: { entry: RunOptions['entry']; answers: readonly string[]; replayOnly: boolean },
): Promise<Seen> {
  const lines: string[] = [];
  const left = answers.map((answer) => JSON.parse(answer));
  const journal = new ProgramJournal(module, {
    tape: new JournalFile(path, { readOnly: replayOnly }),
    replayOnly,
    arguments: {},
    environment: {},
    onReplayed: (effect) => {
      if (effect.kind === 'emit') lines.push(`${effect.channel}: ${effect.payload.shown}`);
      if (effect.kind === 'print') lines.push(effect.text);
    },
    onReplayEnd: () => left.splice(0, journal.answered),
  });
  try {
    const outcome = await runProgram(
      module,
      {
        emit: (channel, payload) => lines.push(`${channel}: ${payload.shown}`),
        print: (text) => lines.push(text),
        log: () => {},
        ask: async () => left.shift() ?? null,
        environment: {},
        directory,
        projectDirectory: directory,
        mockModels: true,
      },
      { entry, journal, capture: typeof entry === 'object' },
    );
    return { lines: lines.map((line) => line.replace(/"duration_ms": \d+/, 'duration')), end: endOf(outcome) };
  } finally {
    journal.close();
  }
}

function endOf(outcome: ProgramOutcome): string {
  return outcome.status === 'done' ? outcome.shown : outcome.failure.message;
}

/** What the world says is not the same twice. */
const VARIES = /std::(?:fs|random|time|http|env|crypto)|with_persistence|timeout|latency|sleep/;

describe('programs', () => {
  test.each(programs)(
    '$name',
    async ({ path: entryPath, text, answers }) => {
      const { module } = buildProgram({ entry: entryPath, readFile: (file) => texts.get(file) });
      if (module === undefined) return;
      const hasMain = module.main !== undefined || module.init !== undefined;
      const tests: RunOptions['entry'][] = module.tests.map((_test, index) => ({ test: index }));
      for (const entry of [...(hasMain ? (['main'] as const) : []), ...tests]) {
        rmSync(path, { force: true });
        const live = await perform(module, { entry, answers, replayOnly: false });
        expect(await perform(module, { entry, answers: [], replayOnly: true })).toEqual(live);
        expect(await perform(module, { entry, answers: [], replayOnly: false })).toEqual(live);
        if (VARIES.test(text)) continue;
        const whole = readFileSync(path);
        const first = whole.indexOf('\n') + 1;
        await fc.assert(
          fc.asyncProperty(fc.integer({ min: first, max: whole.length }), async (length) => {
            writeFileSync(path, whole.subarray(0, length));
            expect(await perform(module, { entry, answers, replayOnly: false })).toEqual(live);
            expect(await perform(module, { entry, answers: [], replayOnly: true })).toEqual(live);
          }),
          { numRuns: 3 },
        );
      }
    },
    30_000,
  );
});
