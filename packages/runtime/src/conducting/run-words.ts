import type { OutputPlace } from '@concerto/agents';
import type { DocumentWrite, EventLog } from '@concerto/log';
import { heardDocument, isHeard, readHeardOfRun } from '../agent/kept-agents.ts';
import type { ProgramEffect } from '../program/machine/machine.ts';
import type { ProgramWorld } from '../program/program-world.ts';
import type { WorkerOutput } from '../worker.ts';
import { emitted, type ProgramWord } from './program-words.ts';

type Words = Pick<ProgramWorld, 'emit' | 'print' | 'log'>;

type RunOf = {
  readonly log: EventLog;
  readonly session: string;
  readonly run: string;
  readonly echo?: Words | undefined;
};

/** Turns and words are counted from 1. */
const nothing: OutputPlace = { step: 0, index: 0 };

/** Written as a run begins. */
export function nothingHeard(session: string, run: string): DocumentWrite {
  return heardDocument(session, 0, { ...nothing, run });
}

/**
 * What one run of a program says, each word with its place. Its journal may be on record before its words are: when it is
 * read again, those that the log has not heard are said.
 */
export class RunWords implements Words {
  readonly #run: string;
  readonly #push: (output: WorkerOutput) => void;
  /** Who hears them as they are. */
  readonly #echo: Words | undefined;
  /** Undefined: all that is in its journal. */
  readonly #heard: OutputPlace | undefined;
  #turn = 0;
  #index = 0;

  private constructor({ run, echo }: RunOf, heard: OutputPlace | undefined, push: (output: WorkerOutput) => void) {
    this.#run = run;
    this.#echo = echo;
    this.#heard = heard;
    this.#push = push;
  }

  static async open(of: RunOf, push: (output: WorkerOutput) => void): Promise<RunWords> {
    return new RunWords(of, await readHeardOfRun(of.log, of.session, of.run), push);
  }

  readonly emit: ProgramWorld['emit'] = (channel, payload, system) => {
    this.#echo?.emit(channel, payload, system);
    const isOurs = channel === 'listen:log' || channel === 'listen:stale';
    this.#say(isOurs ? undefined : () => emitted(channel, payload));
  };

  readonly print: ProgramWorld['print'] = (text) => {
    this.#echo?.print(text);
    this.#sayLog('info', text.trimEnd());
  };

  readonly log: ProgramWorld['log'] = (level, text) => {
    this.#echo?.log(level, text);
    this.#sayLog(level, text);
  };

  readonly #sayLog: ProgramWorld['log'] = (level, text) => {
    const message = { type: 'log', level, message: text } as const;
    this.#say(() => ({ message, raw: message }));
  };

  readonly onTurn = (turn: number): void => {
    if (turn === this.#turn) return;
    this.#turn = turn;
    this.#index = 0;
  };

  readonly onReplayed = (effect: ProgramEffect): void => {
    const { kind } = effect;
    if (kind !== 'emit' && kind !== 'print' && kind !== 'log') return;
    const place = { step: this.#turn, index: this.#index + 1 };
    if (this.#heard === undefined || isHeard(place, this.#heard)) this.#say(undefined);
    else if (kind === 'emit') this.emit(effect.channel, effect.payload, effect.system);
    else if (kind === 'print') this.print(effect.text);
    else this.log(effect.level, effect.text);
  };

  /** One that is not said has its place too. */
  #say(word: (() => ProgramWord) | undefined): void {
    this.#index++;
    if (word === undefined) return;
    this.#push({ kind: 'message', ...word(), at: { run: this.#run, step: this.#turn, index: this.#index } });
  }
}
