import type { ReactNode } from 'react';
import { useRow } from '../live/use-overview.ts';
import { whoText } from './who-text.ts';

const program = 'program:';

/** Who answers, for a reader: a program by its name where that is known, and not by its session. */
export function Who({ actor }: { readonly actor: string | undefined }): ReactNode {
  const isProgram = actor?.startsWith(program) === true;
  const row = useRow(isProgram ? actor.slice(program.length) : '');
  return row === undefined ? whoText(actor) : `program ${row.agent}`;
}
