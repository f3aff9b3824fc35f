import type { Json } from '@concerto/base';
import type { PlainValue, ProgramOutcome } from '../program/machine/machine.ts';
import type { ProgramJournal } from '../program/program-journal.ts';
import type { ProgramWorld } from '../program/program-world.ts';

/**
 * Where somebody stands beside a program's session: there its words are heard as they were said, which its events do not
 * tell any more, and there people are asked. A program with one is not put away, and only itself answers for its agents.
 */
export type ProgramTerminal = Pick<ProgramWorld, 'emit' | 'print' | 'log'> &
  Required<Pick<ProgramWorld, 'ready' | 'flush'>> & {
    /** `requestId` is its name in the session, the same after a restart. */
    readonly ask: (channel: string, payload: PlainValue, signal: AbortSignal, requestId: string) => Promise<Json>;
    /**
     * Of a store that is gone with this process, where nobody goes on with what it holds: the run is written down here,
     * or nowhere, and what its agents said is forgotten once it was heard.
     */
    readonly instead?: { readonly journal: ProgramJournal | undefined };
    /** It is run there, not here, where it has its agents: called with what it finds here, until the signal. */
    readonly runs?: (world: ProgramWorld, signal: AbortSignal) => Promise<void>;
    /** What it came to; not called where it was ended from outside. */
    readonly ended: (outcome: ProgramOutcome) => void;
  };
