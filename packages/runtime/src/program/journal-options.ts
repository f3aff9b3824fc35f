import type { Json, JsonObject } from '@concerto/base';
import type { JournalTape } from './journal-file.ts';
import type { ProgramEffect } from './machine/machine.ts';
import type { Input } from './open-work.ts';

export type JournalOptions = {
  readonly tape: JournalTape;
  /** Of the program, where it is known; else it is made from the module. */
  readonly digest?: string;
  /** Its agents outlive the run: they are sessions of a server. */
  readonly keepsAgents?: boolean;
  /** Never goes on where the journal ends, and never writes. */
  readonly replayOnly: boolean;
  /** What the program was called with, as far as it matters to what it does. */
  readonly arguments: JsonObject;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The system's time unless given. */
  readonly now?: () => number;
  /** The number of the turn whose effects come next, the same when it is run again. */
  readonly onTurn?: (turn: number) => void;
  /** Sees what the program said when it said it first. */
  readonly onReplayed?: (effect: ProgramEffect) => void;
  /** The end of the journal is reached: of what was in it, and what is now done again. */
  readonly onReplayEnd?: (summary: ReplaySummary) => void;
};

export type Resumed = { readonly snapshot: Json; readonly status: 'waiting' | 'running' };

/** What a machine was given: where it begins, and what came after each of its turns from there on. */
export type Past = {
  readonly snapshot: Json | undefined;
  readonly turn: number;
  readonly inputs: ReadonlyMap<number, readonly Input[]>;
};

export type ReplaySummary = {
  /** Lines of the journal, without its header. */
  readonly records: number;
  /** The program had come to its end. */
  readonly isFinished: boolean;
  /** Sessions with agents that were open and are lost. */
  readonly lostSessions: number;
  /** Requests that had no answer and are made again. */
  readonly askedAgain: number;
};
