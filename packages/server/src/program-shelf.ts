import type { Result } from '@concerto/base';
import type { ProgramFile, ProgramInfo, ProgramSource, PutProgramFile } from '@concerto/protocol';

export type WriteRefusal = 'no_such_file' | 'stale_file';

/** Where the sources of programs are. */
export type ProgramShelf = {
  list(): readonly ProgramInfo[];
  /** Undefined when there is no such program. */
  source(name: string): Promise<ProgramSource | undefined>;
  /** Absent where nobody may write. */
  readonly write?: (name: string, file: PutProgramFile) => Promise<Result<ProgramFile, WriteRefusal>>;
};
