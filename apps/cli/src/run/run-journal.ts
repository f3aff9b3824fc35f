import {
  JournalFile,
  type ProgramEffect,
  ProgramJournal,
  type ProgramWorld,
  type ReplaySummary,
} from '@concerto/runtime/program';
import { amount } from '../terminal/amount.ts';
import { tell } from '../terminal/print.ts';
import type { NextAnswer } from './input-answers.ts';

export type JournalFlags = {
  readonly journal: string | undefined;
  readonly replay: string | undefined;
  readonly 'replay-emits': boolean;
  readonly mock: boolean;
  readonly input: string | undefined;
};

type Words = Pick<ProgramWorld, 'emit' | 'print' | 'log'>;

/** The journal that `--journal` or `--replay` asks for. */
export function openJournal(
  module: ConstructorParameters<typeof ProgramJournal>[0],
  flags: JournalFlags,
  words: Words,
): ProgramJournal | undefined {
  const path = flags.replay ?? flags.journal;
  if (path === undefined) return undefined;
  return new ProgramJournal(module, {
    tape: new JournalFile(path, { readOnly: flags.replay !== undefined }),
    replayOnly: flags.replay !== undefined,
    arguments: { mock: flags.mock, input: flags.input ?? null },
    environment: process.env,
    ...(flags['replay-emits'] ? { onReplayed: (effect) => showAgain(effect, words) } : {}),
    onReplayEnd: (summary) => tell(`journal: ${summaryText(path, summary)}\n`),
  });
}

function showAgain(effect: ProgramEffect, words: Words): void {
  if (effect.kind === 'emit') words.emit(effect.channel, effect.payload, effect.system);
  if (effect.kind === 'print') words.print(effect.text);
  if (effect.kind === 'log') words.log(effect.level, effect.text);
}

/** Answers that were used before the program was ended are still in its input. */
export function skipUsed(next: NextAnswer, used: () => number): NextAnswer {
  let skipped = 0;
  return async (signal, show) => {
    while (skipped < used()) {
      skipped++;
      await next(signal, () => {});
    }
    return await next(signal, show);
  };
}

function summaryText(path: string, summary: ReplaySummary): string {
  const { records, isFinished, lostSessions, askedAgain } = summary;
  const replayed = `replayed ${amount(records, 'record')} of ${path}`;
  if (isFinished) return `${replayed}: the program had ended`;
  const lost = lostSessions === 0 ? '' : `; ${amount(lostSessions, 'session')} with agents ended with the old run`;
  const again = askedAgain === 0 ? '' : `; ${amount(askedAgain, 'request')} without an answer made again`;
  return `${replayed}${lost}${again}`;
}
