import type { Json } from '@concerto/base';
import type { IrModule } from '@concerto/ir';
import type { Failure, Notice, Request, TraceEntry, VmOptions } from '@concerto/vm';
import type { Input } from '../open-work.ts';

/** A value of the program as it leaves the machine. */
export type PlainValue = {
  /** As the language shows it. */
  readonly shown: string;
  /** As JSON; a whole Float keeps its point. */
  readonly written: string;
};

type Plain<Part> = Part extends { readonly kind: 'emit' | 'ask' }
  ? Omit<Part, 'payload'> & { readonly payload: PlainValue }
  : Part;

/** What a program does to the world, as plain data. */
export type ProgramEffect = Plain<Notice> | ProgramRequest;
export type ProgramRequest = Plain<Request> & { readonly id: number };

/** What the program came to. */
export type ProgramOutcome =
  | {
      readonly status: 'done';
      /** `main` has returned an `Err`. */
      readonly isError: boolean;
      /** What is in the `Ok` or the `Err`, or the value itself. */
      readonly value: PlainValue;
      /** As the language shows all of it. */
      readonly shown: string;
    }
  | { readonly status: 'failed'; readonly failure: ProgramFailure };
export type ProgramFailure = Omit<Failure, 'value'> & {
  /** The name of the error's type. */
  readonly type: string;
};

/** A slice of the program's work. */
export type Turn = ({ readonly status: 'waiting' | 'running' } | ProgramOutcome) & {
  readonly effects: readonly ProgramEffect[];
};

export type Given = {
  readonly inputs: readonly Input[];
  /** Calls and loop turns of one slice. */
  readonly steps: number;
  /** Ends the program with this reason. */
  readonly cancel?: string | undefined;
  /** What an agent has said already: a machine that asks for nothing else may take it and go on. */
  readonly ahead?: { readonly session: string; readonly said: readonly Json[] } | undefined;
};

/** A program at work, in this thread or in another. Its whole world is what it is given, and what it does. */
export type Machine = {
  /** What a machine that was taken up from a snapshot waits for. */
  readonly pending: readonly ProgramRequest[];
  /** In another process: it can be lost, and sending ahead is worth it. */
  readonly isElsewhere: boolean;
  /** One slice; more where it took what was sent ahead: then each but the last ends with the request that this answered. */
  turn(given: Given): readonly Turn[] | Promise<readonly Turn[]>;
  /** Where it waits. */
  places(): readonly TraceEntry[];
  /** All that it is, as JSON. */
  snapshot(): string | Promise<string>;
  close(): void;
};

export type MachineStart = Pick<VmOptions, 'entry' | 'capture' | 'limits'> & {
  readonly module: IrModule;
  /** What `snapshot` gave; one of another version is refused with a SnapshotError. */
  readonly snapshot?: Json;
  /** How long one slice may hold its thread. */
  readonly sliceMs?: number | undefined;
  /** It shares its thread with nobody: another that did so ran out of memory, and it may have been through this one. */
  readonly isSuspect?: boolean;
};

/** Where machines are. */
export type Machines = { begin(start: MachineStart): Machine | Promise<Machine> };

/** The machine is gone through no fault of its program: it is to be begun again from what it was given. */
export class MachineLost extends Error {
  override readonly name = 'MachineLost';
  readonly code = 'machine_lost';
  readonly isSuspect: boolean;

  constructor(why: string, isSuspect = false) {
    super(why);
    this.isSuspect = isSuspect;
  }
}
