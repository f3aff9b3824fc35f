import type { Json } from '@concerto/base';
import type { AgentJournalEntry } from '@concerto/protocol';
import type { Clock, SessionOutput } from '../ports.ts';
import type { AgentLink } from './agent-link.ts';
import type { OwnerWriter } from './owner-writer.ts';
import { pause } from './store-patience.ts';

type Distribute<T> = T extends unknown ? Omit<T, 'by'> : never;
/** Before it is known which message its turn began with. */
type Said = Distribute<AgentJournalEntry>;

/** So long what an agent writes on stderr may wait to be written down. */
const stderrWithinMs = 10;

/** What the agent of a session says, exactly as it was, for whoever opened the session. */
export class AgentJournal {
  readonly #writer: OwnerWriter;
  readonly #clock: Clock;
  #showsStderr = false;

  constructor(writer: OwnerWriter, clock: Clock) {
    this.#writer = writer;
    this.#clock = clock;
  }

  /** It is on record with what follows from it; `requestId` where it asks. */
  said(live: AgentLink, output: SessionOutput, requestId: string | undefined): void {
    this.#keep(live, said(output, requestId));
  }

  /** On record when something else is, or after a moment. */
  stderr(live: AgentLink, text: string): void {
    this.#keep(live, { type: 'stderr', text });
    if (this.#showsStderr) return;
    this.#showsStderr = true;
    void pause(this.#clock, stderrWithinMs).then(async () => {
      this.#showsStderr = false;
      // A failing store is found by what else is written.
      await this.#writer.show([]).catch(() => undefined);
    });
  }

  #keep({ promptedBy }: AgentLink, entry: Said | undefined): void {
    if (entry === undefined) return;
    const by = promptedBy === undefined ? {} : { by: promptedBy };
    this.#writer.keep({ type: entry.type, data: JSON.stringify({ ...entry, ...by }) });
  }
}

/** What the journal has of what an agent said; undefined for what is told otherwise. */
function said(output: SessionOutput, requestId: string | undefined): Said | undefined {
  switch (output.kind) {
    case 'message':
      return { type: 'message', ...(requestId === undefined ? {} : { request: requestId }), message: output.raw };
    case 'violation':
      return output.fatal ? { type: 'violation', message: output.error.message } : undefined;
    case 'exit':
      return { type: 'exit', ...output.exit };
    default:
      return undefined;
  }
}

/** For a wire that is not ours: what a reply says that was written for ours. */
export function replyOf(line: string | undefined): { readonly value: Json } | { readonly error: Json } | undefined {
  if (line === undefined) return undefined;
  const reply: { readonly value?: Json; readonly error?: Json } = JSON.parse(line);
  return reply.error === undefined ? { value: reply.value ?? null } : { error: reply.error };
}
