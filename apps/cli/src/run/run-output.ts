import { harmless, type Json } from '@concerto/base';
import type { PlainValue, ProgramWorld } from '@concerto/runtime/program';
import { harmlessButStyles } from '../terminal/paint.ts';
import { tell } from '../terminal/print.ts';
import type { NextAnswer } from './input-answers.ts';
import { OutputBuffer } from './output-buffer.ts';

/** Events nobody wants to read in the terminal. */
const HIDDEN_EVENTS = new Set(['listen:log', 'listen:stale']);

export type ShowFlags = { readonly json: boolean; readonly quiet: boolean; readonly verbose: boolean };

/** What is shown of a run, wherever it runs: what it says on standard output, what is said about it on standard error. */
export type RunOutput = Pick<ProgramWorld, 'emit' | 'print' | 'log'> &
  Required<Pick<ProgramWorld, 'ready' | 'flush'>> & {
    /** Shows what is asked, and has it answered. */
    readonly ask: (next: NextAnswer, channel: string, payload: PlainValue, signal: AbortSignal) => Promise<Json>;
  };

export function runOutput({ json, quiet, verbose }: ShowFlags): RunOutput {
  const output = new OutputBuffer(process.stdout);
  const show = (channel: string, payload: PlainValue): void => {
    if (quiet) return;
    if (json) output.write(shown(`{"channel":${JSON.stringify(channel)},"payload":${payload.written}}\n`));
    else output.write(shown(`[emit:${channel}] ${payload.shown}\n`));
  };
  return {
    emit: (channel, payload, system) => {
      if (!system || verbose || !HIDDEN_EVENTS.has(channel)) show(channel, payload);
    },
    // In JSON mode standard output is for a program, which reads lines of JSON only.
    print: (text) => (json ? tell(text) : output.write(shown(text))),
    log: (level, text) => tell(`[${level.toUpperCase()}] ${harmless(text)}\n`),
    ask: (next, channel, payload, signal) =>
      next(signal, () => {
        show(channel, payload);
        output.flush();
      }),
    ready: () => output.drained(),
    flush: () => output.flush(),
  };
}

/** A terminal obeys what agents and models said; a file or a pipe gets it as it is. */
function shown(text: string): string {
  return process.stdout.isTTY ? harmlessButStyles(text) : text;
}
