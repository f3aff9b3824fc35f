import type { IrModule } from '@concerto/ir';
import type { TraceEntry } from '@concerto/vm';
import type { Given, MachineStart, ProgramEffect, ProgramRequest, Turn } from './machine.ts';

/** What is asked of a process with machines. A module goes there once; then it is known by its number. */
export type MachineJob =
  | { readonly kind: 'module'; readonly module: number; readonly code: IrModule }
  | { readonly kind: 'forget'; readonly module: number }
  | {
      readonly kind: 'begin';
      readonly machine: number;
      readonly module: number;
      readonly start: Omit<MachineStart, 'module' | 'sliceMs' | 'isSuspect'>;
    }
  | { readonly kind: 'turn'; readonly machine: number; readonly given: Given }
  | { readonly kind: 'more'; readonly machine: number }
  | { readonly kind: 'snapshot'; readonly machine: number }
  | { readonly kind: 'close'; readonly machine: number };

/** What comes back, by the kind of the job. */
export type BeginReply = { readonly pending: readonly ProgramRequest[] };
export type TurnReply = {
  readonly turns: readonly Turn[];
  readonly places: readonly TraceEntry[];
  /** The last turn has done more than this: it is asked for with `more`, so that nothing long is read at once. */
  readonly isMore: boolean;
};
export type MoreReply = { readonly effects: readonly ProgramEffect[]; readonly isMore: boolean };
