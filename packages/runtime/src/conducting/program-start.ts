import type { AgentPrompt } from '@concerto/agents';
import type { Catalog, LoadedProgram } from '../catalog.ts';
import type { ChildPorts } from '../children/child-sessions.ts';
import type { OwnerWriter } from '../owner/owner-writer.ts';
import type { Machines } from '../program/machine/machine.ts';
import type { Tenure } from '../session/tenure.ts';
import type { ProgramCode } from './program-code.ts';
import type { Supervises } from './program-sessions.ts';
import type { ProgramTerminal } from './program-terminal.ts';

export type ProgramPorts = ChildPorts & {
  readonly code: ProgramCode;
  readonly catalog: Catalog;
  /** Where programs are run; in this thread unless given. */
  readonly machines?: Machines;
};

/** What a program is run with. */
export type ProgramStart = {
  readonly name: string;
  readonly tenure: Tenure;
  readonly program: LoadedProgram;
  /** The digest of its code. */
  readonly code: string;
  readonly session: string;
  readonly root: string;
  readonly ports: Omit<ProgramPorts, 'code'>;
  readonly writer: OwnerWriter;
  readonly epoch: number;
  /** The session that it answers for, and as whom: then its supervisor is run, not `main`. */
  readonly supervises: Supervises | undefined;
  /** Where somebody stands beside it. */
  readonly terminal: ProgramTerminal | undefined;
  /** It was asked to pause, and has not. */
  readonly isToHold: boolean;
  /** What an earlier owner had begun: it goes on where the journal ends. */
  readonly cutShort: AgentPrompt | undefined;
};
