import type { Launch } from './group-process.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** Of what is said on the socket. An older keeper is used until its agents are done, so this hardly ever changes. */
export const protocolVersion = 1;

/** A place in an agent's conversation: which step of its driver, and the how many-th line that this step writes. */
export type LineId = { readonly step: number; readonly index: number };

export type ListedAgent = {
  readonly agent: string;
  readonly pid: number;
  readonly identity: ProcessIdentity;
  readonly since: number;
  readonly epoch: number;
  readonly owned: boolean;
  readonly running: boolean;
  /** What it said and its owner has not confirmed, in bytes. */
  readonly unconfirmed: number;
  /** When it is ended if nobody owns it; milliseconds since the epoch. */
  readonly endsAt?: number;
};

/** What an owner says. The bytes of a frame are named in brackets. */
export type ToKeeper =
  | { readonly type: 'hello'; readonly version: number; readonly secret: string; readonly short?: boolean }
  /** Starts an agent and owns it. [what the owner wants to be told when it takes the agent up] */
  | {
      readonly type: 'start';
      readonly agent: string;
      readonly epoch: number;
      readonly launch: Launch;
      readonly stepMs: number;
      readonly keepMs: number;
    }
  | { readonly type: 'attach'; readonly agent: string; readonly epoch: number }
  | { readonly type: 'list' }
  | { readonly type: 'end'; readonly agent: string; readonly epoch?: number; readonly stepMs?: number }
  /** A line for the agent's stdin. [the line with its end] */
  | ({ readonly type: 'line' } & LineId)
  /** A step of the driver that no line of the agent's caused. [what it was] */
  | { readonly type: 'note'; readonly step: number }
  /** So many bytes of what the agent said are in the log. */
  | { readonly type: 'ack'; readonly bytes: number }
  | { readonly type: 'signal'; readonly signal: AgentSignal }
  | { readonly type: 'end-own'; readonly stepMs?: number; readonly atWork: boolean }
  /** Its exit is in the log: nothing of it is wanted any more. */
  | { readonly type: 'forget' };

export type FromKeeper =
  /** `short`: it reads short heads, and was told that its caller does. A keeper of before does not say so. */
  | { readonly type: 'welcome'; readonly version: number; readonly pid: number; readonly short?: boolean }
  | { readonly type: 'started'; readonly identity: ProcessIdentity }
  /** [what `start` was given]; followed by its notes, then by all that it ever said. */
  | {
      readonly type: 'attached';
      readonly identity: ProcessIdentity;
      readonly written: LineId | null;
      readonly notes: number;
      /** So much it has said up to now. */
      readonly bytes: number;
    }
  | { readonly type: 'note'; readonly step: number }
  /** [what it wrote on stdout] */
  | { readonly type: 'out' }
  /** [what it wrote on stderr] */
  | { readonly type: 'stderr' }
  /** Its stdin has taken the line. */
  | ({ readonly type: 'taken' } & LineId)
  | ({ readonly type: 'untaken'; readonly reason: 'stalled' | 'broken' } & LineId)
  /** The last word. `unownedMs`: the keeper ended it, since for so long nobody owned it; `reason`: or why else. [the end of its stderr] */
  | {
      readonly type: 'exit';
      readonly code: number | null;
      readonly signal: string | null;
      readonly unownedMs?: number;
      readonly reason?: EndReason;
    }
  | { readonly type: 'listed'; readonly agents: readonly ListedAgent[] }
  | { readonly type: 'done'; readonly found: boolean }
  | { readonly type: 'refused'; readonly code: RefusalCode; readonly message: string };

/**
 * Why the keeper ended an agent without its owner: a caller asked for it, the keeper itself ends, the agent has closed its
 * stdout. A newer keeper may know more.
 */
export type EndReason = 'asked' | 'keeper' | 'mute';

export type RefusalCode =
  | 'secret'
  | 'version'
  | 'unknown'
  | 'older-epoch'
  | 'taken'
  | 'spawn'
  | 'cut'
  | 'malformed'
  | 'ending';

export type AgentSignal = 'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT';

export type Frame<Head> = { readonly head: Head; readonly body: Buffer };
