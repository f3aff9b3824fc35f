import type { IrModule } from '@concerto/ir';
import { SnapshotError } from '@concerto/vm';
import type { JournalOptions } from '../program/journal-options.ts';
import { ProgramJournal } from '../program/program-journal.ts';
import { type JournalOf, JournalStream } from './journal-stream.ts';

type Given = Pick<JournalOptions, 'digest' | 'environment' | 'now' | 'onTurn' | 'onReplayed'>;

/** The journal of a run in its session's stream: from its last mark on, or from the start where what was marked is of another version of the machine. */
export async function openJournal(module: IrModule, of: JournalOf, given: Given): Promise<ProgramJournal> {
  const rest = { keepsAgents: true, replayOnly: false, arguments: {} };
  try {
    return new ProgramJournal(module, { tape: await JournalStream.open(of), ...rest, ...given });
  } catch (cause) {
    if (!(cause instanceof SnapshotError)) throw cause;
    return new ProgramJournal(module, { tape: await JournalStream.open(of, { isWhole: true }), ...rest, ...given });
  }
}
