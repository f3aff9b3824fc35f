import type { Json } from '@concerto/base';
import type {
  CallOutcome,
  FileChange,
  Location,
  Part,
  SessionStatus,
  StoredEvent,
  SuspendEvent,
  ToolKind,
  Usage,
} from '@concerto/protocol';

/** A run of text, or something else that was said between two texts. */
export type Block =
  | { readonly kind: 'text'; readonly text: string; readonly thought: boolean }
  | { readonly kind: 'part'; readonly part: Part };

export type ActivityEntry =
  | {
      readonly kind: 'progress';
      readonly seq: number;
      readonly at: string;
      readonly message: string;
      readonly percent: number | undefined;
      readonly data: Json | undefined;
    }
  | { readonly kind: 'note'; readonly seq: number; readonly at: string; readonly title: string; readonly data: Json };

type Common = {
  /** The position of the event that made it: unique in a session. */
  readonly key: number;
  readonly at: string;
  readonly turn: number;
};

export type PromptItem = Common & {
  readonly kind: 'prompt';
  readonly blocks: readonly Block[];
  readonly how: 'prompt' | 'steer';
};
type ContentItem = Common & { readonly kind: 'content'; readonly blocks: readonly Block[] };
export type ActivityItem = Common & {
  readonly kind: 'activity';
  readonly entries: readonly ActivityEntry[];
  /** How many of the entries are progress, so that the collapsed line need not count. */
  readonly steps: number;
};
export type ToolItem = Common & {
  readonly kind: 'tool';
  readonly callId: string;
  readonly name: string;
  readonly title: string | undefined;
  readonly args: Json;
  readonly what: ToolKind | undefined;
  readonly locations: readonly Location[];
  readonly changes: readonly FileChange[];
  readonly status: string | undefined;
  readonly outcome: 'running' | CallOutcome;
  /** What it has written so far, the end of it where that is much. */
  readonly output: string;
  readonly result: readonly Block[] | undefined;
  readonly endedAt: string | undefined;
};
export type Settlement = {
  readonly outcome: 'answered' | 'withdrawn';
  readonly at: string;
  readonly by: string | undefined;
  readonly reason: string | undefined;
  /** Undefined where it was asked for as a secret. */
  readonly response: Json | undefined;
};
export type RequestItem = Common & {
  readonly kind: 'request';
  readonly event: SuspendEvent;
  readonly settled: Settlement | undefined;
};
export type ResultItem = Common & {
  readonly kind: 'result';
  readonly blocks: readonly Block[];
  /** What the agent reported beside the text. */
  readonly fields: Readonly<Record<string, Json>>;
  /** The text was streamed before, in pieces, and is not shown again. */
  readonly isRepeat: boolean;
};
export type ErrorItem = Common & {
  readonly kind: 'error';
  readonly message: string;
  readonly tail: string | undefined;
};
export type StatusItem = Common & {
  readonly kind: 'status';
  readonly status: SessionStatus;
  readonly previous: SessionStatus | undefined;
  readonly reason: string | undefined;
};
export type GapItem = Common & { readonly kind: 'gap'; readonly from: number; readonly to: number };
type RawItem = Common & { readonly kind: 'raw'; readonly title: string; readonly data: unknown };

export type TimelineItem =
  | PromptItem
  | ContentItem
  | ActivityItem
  | ToolItem
  | RequestItem
  | ResultItem
  | ErrorItem
  | StatusItem
  | GapItem
  | RawItem;

export type TimelineState = {
  readonly items: readonly TimelineItem[];
  /** The position of the last event that is folded in. */
  readonly position: number;
  readonly status: SessionStatus | undefined;
  readonly statusSince: string | undefined;
  readonly turn: number;
  readonly isTurnOpen: boolean;
  /** The newest turn ended with an error. */
  readonly hasTurnFailed: boolean;
  /** Under which the agent's own work in this turn is reported; other calls are its tools. */
  readonly turnCall: string | undefined;
  /** Set between the report of a result and its content. */
  readonly resultFields: Readonly<Record<string, Json>> | undefined;
  readonly lastResultTurn: number;
  readonly progress: { readonly message: string; readonly percent: number | undefined } | undefined;
  readonly usage: Usage | undefined;
  /** Where each request and each tool call stands among the items. */
  readonly requests: ReadonlyMap<string, number>;
  readonly tools: ReadonlyMap<string, number>;
  /** Requests that wait for an answer, oldest first. */
  readonly open: readonly string[];
  /** Messages that are known to have entered a running turn. */
  readonly steered: ReadonlySet<string>;
  /** The position of the last change to the queue: when it moves, the queue is to be read again. */
  readonly queueRevision: number;
  /** The same for what the session as a whole is. */
  readonly sessionRevision: number;
  readonly isFinished: boolean;
};

export const emptyTimeline: TimelineState = {
  items: [],
  position: 0,
  status: undefined,
  statusSince: undefined,
  turn: 0,
  isTurnOpen: false,
  hasTurnFailed: false,
  turnCall: undefined,
  resultFields: undefined,
  lastResultTurn: -1,
  progress: undefined,
  usage: undefined,
  requests: new Map(),
  tools: new Map(),
  open: [],
  steered: new Set(),
  queueRevision: 0,
  sessionRevision: 0,
  isFinished: false,
};

export type EventOf<Type extends StoredEvent['type']> = Extract<StoredEvent, { type: Type }>;

/** What has waited longest for an answer. */
export function openRequest({ open, requests, items }: TimelineState): SuspendEvent | undefined {
  const index = open[0] === undefined ? undefined : requests.get(open[0]);
  const item = index === undefined ? undefined : items[index];
  return item?.kind === 'request' ? item.event : undefined;
}
