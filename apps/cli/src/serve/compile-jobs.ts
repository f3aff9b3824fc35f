import type { IrModule } from '@concerto/ir';
import type { ProgramFile } from '@concerto/protocol';
import type { Finding } from '../doctor/finding.ts';

/** What is asked of the process that reads and checks programs. */
export type CompileJob =
  | { readonly kind: 'compile'; readonly entry: string; readonly color: boolean }
  /** For `doctor`, under that name. */
  | { readonly kind: 'check'; readonly check: string; readonly entry: string; readonly color: boolean }
  /** The files of a program, as far as they are in the folder. */
  | { readonly kind: 'sources'; readonly folder: string; readonly entry: string };

/** `program` is absent when it has errors; `complaints` is what is to be shown. */
export type CompileReply = {
  readonly complaints: string;
  readonly program?: { readonly module: IrModule; readonly projectDirectory: string };
};
export type CheckReply = { readonly finding: Finding };
export type SourcesReply = { readonly files: readonly ProgramFile[] };
