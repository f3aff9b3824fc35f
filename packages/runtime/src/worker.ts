import type {
  AgentOutput,
  AgentPrompt,
  AgentReply,
  AgentSettings,
  AgentSteer,
  AgentVerb,
  Kept,
  KeptAgent,
  OutputPlace,
} from '@concerto/agents';
import type { AgentSandbox, SessionError, SessionKind, SuspendEvent } from '@concerto/protocol';
import type { Rests } from '@concerto/session';
import type { OwnProcessNotes } from './agent/process-register.ts';
import type { CatalogEntry } from './catalog.ts';
import type { OwnerWriter } from './owner/owner-writer.ts';
import type { WorkerJournal } from './owner/worker-journal.ts';
import type { Tenure } from './session/tenure.ts';

/** A request before it has its id. */
export type Suspend = SuspendEvent extends infer Event
  ? Event extends SuspendEvent
    ? Omit<Event, 'requestId'>
    : never
  : never;

/** `run`: of a program, whose words are counted from the start of each run. */
export type WorkerPlace = OutputPlace & { readonly run?: string };

/** What a worker says: what an agent says of its work, and what our own loop says, which knows the events. */
export type WorkerOutput = {
  /** Where it stands among all that is said, for one that can be taken up: it says all of it again. */
  readonly at?: WorkerPlace;
} & (
  | Exclude<AgentOutput, { kind: 'message' | 'violation' | 'exit' }>
  /** `requestId`: what a request that it opens is called, where that is known. */
  | (Extract<AgentOutput, { kind: 'message' }> & { readonly requestId?: string })
  /** Answered by an answer to `id`. `requestId`: it was asked before, under this name. */
  | { readonly kind: 'suspend'; readonly id: string; readonly event: Suspend; readonly requestId?: string | undefined }
  /** It only waits now, as `rests` of the worker says, and may be put away. */
  | { readonly kind: 'rests' }
  /** It broke the rules of its wire. When `fatal`, its turn cannot be trusted to end. */
  | { readonly kind: 'violation'; readonly error: SessionError; readonly fatal: boolean }
  /** Always the last. */
  | {
      readonly kind: 'gone';
      /** Of the work that it leaves undone. */
      readonly error: SessionError;
      /** How it ended, where that is a failure also of one that had nothing to do. */
      readonly failure?: string;
    }
);

/** For what it asked; `line` is the very answer for a worker that takes lines, and alone it answers what was no request. */
export type WorkerAnswer = (AgentReply & { readonly line?: string | undefined }) | { readonly line: string };

/** `force`: it was asked and did not, and is made to; a `resume` then undoes a pause by force. */
export type WorkerControl = { readonly verb: AgentVerb; readonly id: string; readonly force?: boolean };

/** One that goes on when its owner is gone. */
export type KeptWorker = Omit<Kept, 'mark' | 'detach'> & {
  /** Leaves it to the next owner, and gives the name under which it goes on; its output ends here. */
  readonly leave: () => string;
};

/**
 * Whatever works in a session: an agent, an assistant, a program. What is said to it resolves when it has taken it and
 * rejects when it cannot; `mark` names it, for the next owner of one that is kept.
 */
export type Worker = {
  /** What it has announced so far; may grow. */
  readonly capabilities: ReadonlySet<string>;
  /** By name, those we have no use for too; where it is missing, `capabilities` is all. */
  readonly announced?: readonly string[] | undefined;
  readonly version?: string | undefined;
  /** Of a process: what stands between it and the account. */
  readonly sandbox?: AgentSandbox | undefined;
  /** Where it works: what the paths that it names are relative to. */
  readonly folder?: string | undefined;
  readonly kept?: KeptWorker | undefined;
  /** Of one that only waits, for people or for a time: ended and started again it is where it was. */
  readonly rests?: Rests | undefined;

  /** Everything it says, in order, in batches of what is already there. One reader, for whom it waits. */
  readonly output: AsyncIterable<readonly WorkerOutput[]>;

  /** Files among its parts may be where they are kept; whoever needs the bytes reads them. */
  prompt(prompt: AgentPrompt, mark: string): Promise<void>;
  answer(answer: WorkerAnswer, mark: string): Promise<void>;
  /** `heard`: nothing better will be known than that it took it. Otherwise it says itself when it has heard it. */
  steer(steer: AgentSteer, mark: string): Promise<'heard' | 'taken'>;
  /** `holds`: it is so already, and no word of the worker will follow. */
  control(control: WorkerControl): 'asked' | 'holds';
  /** Switches what can be switched while it works; rejects with why not. */
  configure?(settings: AgentSettings): Promise<void>;
  /** Ends it, and whatever it started; `now` without asking. Repeatable. */
  stop(how?: { readonly now?: boolean }): Promise<void>;
};

type WorkerStart = {
  readonly tenure: Tenure;
  readonly entry: CatalogEntry;
  readonly incarnation: number;
  /** The owner's hand: what is written with it stands in order with everything else that the session says. */
  readonly writer: OwnerWriter;
  /** Where its words are kept for whoever opened the session. */
  readonly journal: WorkerJournal | undefined;
  /** Whatever it starts is noted down before it is spoken to, so that it is found should we be killed. */
  readonly notes: OwnProcessNotes;
  /** One that its keeper held, to be taken up. */
  readonly held: KeptAgent | undefined;
  /** Ends the start, and what was started. */
  readonly ended: AbortSignal;
  /** Ends the start, and leaves what was started to its keeper. */
  readonly left: AbortSignal;
};

/** Rejects with why it cannot be; then nothing of it is left. The entry is of the starter's kind. */
export type StartWorker = (start: WorkerStart) => Promise<Worker>;

/** How each kind of session gets its worker. */
export type StartWorkers = Readonly<Record<SessionKind, StartWorker>>;
