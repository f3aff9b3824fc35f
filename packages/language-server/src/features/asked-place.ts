import type { ProgramIndex, SourceFile } from '@concerto/language';

/** Where in an open program the editor asks about something. */
export interface AskedPlace {
  readonly index: ProgramIndex;
  readonly path: string;
  readonly offset: number;
  readonly manifest: SourceFile | undefined;
}
