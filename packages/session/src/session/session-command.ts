import type { Json, JsonObject, Result } from '@concerto/base';
import type {
  Ack,
  AgentResult,
  AgentSandbox,
  Because,
  Budget,
  ForkOf,
  LifecycleVerb,
  LlmContent,
  MessagePriority,
  MessageSource,
  OnTimeout,
  PublicEvent,
  Rule,
  RunnerCommand,
  SessionError,
  SessionKind,
  SessionRecord,
  SessionSettings,
  SessionStatus,
  SuspendEvent,
  ToolConfig,
  Usage,
  UsageSource,
  WorkEvent,
  Worktree,
} from '@concerto/protocol';
import type { Answerer, Rests, SessionState } from './session-state.ts';

/** Who asks, when, and because of what; everything the pure room cannot know by itself. */
export type Asked = {
  /** Milliseconds since the epoch. A clock that stepped back is taken as standing still. */
  readonly at: number;
  readonly actor: string;
  readonly cause?: string | undefined;
  /** The `traceparent` of the call: a message carries it to whoever works on it. */
  readonly trace?: string | undefined;
  /** The owner in whose place this is decided, and under whose fence it is appended: it need not be called. */
  readonly attending?: { readonly epoch: number; readonly actor: string } | undefined;
  /** What the owner has shown as called and not yet as done; a turn that ends closes them. */
  readonly openCalls?: readonly OpenCall[] | undefined;
};

export type OpenCall = { readonly callId: string; readonly name: string };

export type StartCommand = {
  readonly type: 'start';
  readonly sessionId: string;
  readonly kind: SessionKind;
  readonly agent: string;
  readonly title: string;
  readonly once: boolean;
  readonly prompt?:
    | { readonly messageId: string; readonly content: string; readonly objective?: LlmContent }
    | undefined;
  readonly template?: string | undefined;
  readonly input?: Json | undefined;
  readonly tools?: ToolConfig | undefined;
  readonly settings?: SessionSettings | undefined;
  /** For a session that another one opens: which, the top of their tree, and the code that says how it is started. */
  readonly parent?: string | undefined;
  readonly root?: string | undefined;
  readonly code?: string | undefined;
  /** The program that answers for it. */
  readonly supervisor?: string | undefined;
  /** What it may use, children included. */
  readonly budget?: Budget | undefined;
  /** Its own rules, as they would be remembered for it. */
  readonly rules?: readonly Rule[] | undefined;
  /** The session that it answers for. */
  readonly supervises?: string | undefined;
  /** The session in whose place it goes on. */
  readonly forkOf?: ForkOf | undefined;
  /** What the pool said: a slot, or a place on the waiting list. */
  readonly slot: 'held' | 'wanted';
};

/** A user's wishes: each may be refused. */
export type Wish =
  | StartCommand
  | {
      readonly type: 'enqueue';
      readonly messageId: string;
      readonly content: string;
      /** All of it, where it is more than text. */
      readonly objective?: LlmContent | undefined;
      readonly priority: MessagePriority;
      readonly source: MessageSource;
      readonly context?: Json | undefined;
      /** Whoever sends it answers what is asked in its turn, before anybody else. */
      readonly listens?: true | undefined;
    }
  | {
      readonly type: 'edit';
      readonly messageId: string;
      readonly content: string;
      readonly objective?: LlmContent | undefined;
    }
  | { readonly type: 'promote'; readonly messageId: string }
  | { readonly type: 'cancel-message'; readonly messageId: string }
  | { readonly type: 'reorder'; readonly ids: readonly string[]; readonly version: number }
  | { readonly type: 'resend'; readonly messageId: string }
  | { readonly type: 'drop'; readonly messageId: string }
  | {
      readonly type: 'control';
      readonly kind: LifecycleVerb;
      readonly requestId: string;
      /** Of a resume, where the agent's conversation can be loaded: the id of the message that lets a cut turn go on. */
      readonly goOn?: string | undefined;
      /** Of a cancel: nothing goes on of what it opened. */
      readonly alone?: boolean | undefined;
    }
  | {
      readonly type: 'answer';
      readonly requestId: string;
      readonly response: Json;
      readonly reason?: string | undefined;
      /** The same is answered so in this session from now on. */
      readonly rule?: Rule | undefined;
      /** From a client without keys: the same value again is the same answer again. */
      readonly equalIsRepeat?: boolean;
      /** The reply as the agent gets it, where it is more exact than the response. */
      readonly line?: string | undefined;
      readonly because?: Because | undefined;
    }
  /** Whoever is asked leaves it to the next. */
  | {
      readonly type: 'pass-request';
      readonly requestId: string;
      readonly by: string;
      readonly reason?: string | undefined;
    }
  /** What it is called, and whether it is put away; also when it is over. */
  | { readonly type: 'describe'; readonly title?: string | undefined; readonly archived?: boolean | undefined }
  /** Only when it is over. */
  | { readonly type: 'delete' }
  /** Who answers for the session from now on. */
  | {
      readonly type: 'supervise';
      readonly supervisor?: string | undefined;
      /** What one has for each request; nothing where there is none. */
      readonly withinMs?: number | undefined;
    }
  | { readonly type: 'change-settings'; readonly requestId: string; readonly params: JsonObject }
  | { readonly type: 'change-worktree'; readonly worktree: Worktree }
  /** Nobody took the answer in time; nothing when somebody did. */
  | { readonly type: 'take-back-answer'; readonly requestId: string }
  /** A line in reply to something that was no request; nobody who has ended is told. */
  | { readonly type: 'respond'; readonly line: string }
  /** Whoever opened it needs it no more: it ends as its last turn did. */
  | { readonly type: 'finish' }
  /** Nothing goes on of what it opened: a cancel that waited for that is done. */
  | { readonly type: 'children-over' };

/** What the pool, the clock and an attentive owner say; never refused. */
export type Notice =
  | { readonly type: 'admit' }
  | { readonly type: 'expire' }
  /** Another session needs a place: a quiet one gives its own, any other keeps it. */
  | { readonly type: 'make-room'; readonly for: string }
  /** The owner looks whether there is something to do; whoever no longer owns the session does nothing. */
  | { readonly type: 'attend'; readonly epoch: number };

/** From the owner: whose word it is, and the events it translated, which are shown before what follows from them. */
type Reported = { readonly epoch: number; readonly observed?: readonly WorkEvent[] | undefined };
/** The end of a turn, as it is shown: where it ends the turn, and where it comes when there is none to end. */
type Closing = {
  readonly closing?: readonly WorkEvent[] | undefined;
  readonly late?: readonly WorkEvent[] | undefined;
};
/** From the agent: also which incarnation spoke. */
type FromAgent = Reported & { readonly incarnation: number };

/** What the answerers that need no person made of a request. */
export type Routing = {
  /** Decided already: by a rule. */
  readonly answer?: { readonly response: Json; readonly by: string; readonly reason?: string | undefined } | undefined;
  /** Whom it is put before when nobody has, in this order; a person alone unless given. */
  readonly answerers?: readonly Answerer[] | undefined;
  /** Why it is asked of the first of them. */
  readonly reason?: string | undefined;
  readonly answerWithinMs?: number | undefined;
  readonly onTimeout?: OnTimeout | undefined;
};

/** Facts: recorded, or recorded as ignored with the reason; never refused. */
/** Of a turn of which the agent told no usage: how many characters it was given, beside its prompt, and said. */
export type Untold = { readonly given: number; readonly said: number };

export type Report =
  /** A new owner. Whatever ran under an older one is gone, but for a process that it has taken up. */
  | (Reported & {
      readonly type: 'claimed';
      readonly runner: string;
      /** The incarnation that goes on under it. */
      readonly kept?: number | undefined;
      /** Why there is none to go on, where that is known. */
      readonly lost?: string | undefined;
      /** How long its agent may take to come up; what is usual unless given. */
      readonly startWithinMs?: number | undefined;
    })
  /** The owner gives the session up, its process ended or left to the next. */
  | (Reported & {
      readonly type: 'released';
      /** It only waits, for people or for a time: it rests until then, if nothing was asked of it meanwhile. */
      readonly rests?: Rests | undefined;
      /** The incarnation that goes on without an owner. */
      readonly kept?: number | undefined;
      readonly reason: string;
      /** As in `process-exited`. */
      readonly undelivered?: readonly string[];
    })
  | (FromAgent & {
      readonly type: 'agent-ready';
      readonly capabilities: readonly string[];
      readonly version?: string;
      readonly sandbox?: AgentSandbox;
    })
  | (FromAgent & { readonly type: 'start-failed'; readonly error: SessionError })
  | (FromAgent & {
      readonly type: 'process-exited';
      readonly error: SessionError;
      /** Dispatches that certainly never reached it; they go back to the queue instead of being uncertain. */
      readonly undelivered?: readonly string[];
    })
  /** It has switched, or why not. */
  | (FromAgent & { readonly type: 'settings-told'; readonly requestId: string; readonly error?: string | undefined })
  | (FromAgent & { readonly type: 'delivered'; readonly dispatchId: string; readonly how: 'prompt' | 'steer' })
  | (FromAgent &
      Pick<Closing, 'closing'> & {
        readonly type: 'delivery-refused';
        readonly dispatchId: string;
        readonly reason: string;
      })
  /** The agent began a turn by itself; not needed for one that a prompt started. */
  | (FromAgent & { readonly type: 'turn-started' })
  | (FromAgent &
      Closing & {
        readonly type: 'turn-ended';
        readonly outcome: 'result';
        readonly value: Json;
        /** What `complete` will carry if the session ends with it. */
        readonly result: AgentResult;
        /** The session ends with this turn even without `once`: a program that has finished. */
        readonly final?: boolean;
        /** When known: another turn's end is not this one's. */
        readonly turn?: number;
        readonly untold?: Untold | undefined;
      })
  | (FromAgent &
      Closing & {
        readonly type: 'turn-ended';
        readonly outcome: 'error';
        readonly untold?: Untold | undefined;
        readonly error: SessionError;
        readonly final?: boolean;
        readonly turn?: number;
      })
  | (FromAgent & {
      readonly type: 'request-opened';
      readonly requestId: string;
      readonly event: SuspendEvent;
      readonly routing?: Routing | undefined;
    })
  | (FromAgent & { readonly type: 'request-withdrawn'; readonly requestId: string; readonly reason: string })
  | (FromAgent & { readonly type: 'answer-delivered'; readonly requestId: string })
  | (FromAgent & { readonly type: 'control-acked'; readonly requestId: string })
  | (FromAgent & { readonly type: 'control-refused'; readonly requestId: string; readonly reason: string })
  | (Reported & { readonly type: 'child-opened'; readonly child: string })
  /** Who answers what the session itself asks; what the agent asks comes with it. */
  | (Reported & { readonly type: 'request-routing'; readonly requestId: string; readonly routing: Routing })
  /** All that a session which it opened has used up to now. */
  | (Reported & {
      readonly type: 'child-used';
      readonly child: string;
      readonly usage: Usage;
      readonly turns: number;
      readonly isEstimate?: true | undefined;
    })
  /** What was used since the last report. */
  | (Reported & { readonly type: 'usage'; readonly usage: Usage; readonly source?: UsageSource | undefined });

export type SessionCommand = Asked & (Wish | Notice | Report);

/** Stable codes, as the HTTP contract names them. */
export type Refusal = { readonly message: string } & (
  | {
      readonly code:
        | 'no_such_session'
        | 'id_in_use'
        | 'not_over'
        | 'session_closed'
        | 'no_such_message'
        | 'already_delivered'
        | 'in_flight'
        | 'already_immediate'
        | 'cancelled'
        | 'not_uncertain'
        | 'uncertain'
        | 'invalid_content'
        | 'no_such_request'
        | 'invalid_answer'
        | 'over_budget'
        | 'already_answered'
        | 'not_asked'
        | 'settings_pending';
    }
  | { readonly code: 'queue_full'; readonly max: number }
  | { readonly code: 'stale_order'; readonly version: number }
  | { readonly code: 'wrong_status'; readonly status: SessionStatus }
  | { readonly code: 'withdrawn'; readonly reason: string }
  | {
      readonly code: 'lifecycle_request_in_progress';
      readonly kind: LifecycleVerb;
      readonly since: string;
      readonly requestId: string;
    }
);
export type RefusalCode = Refusal['code'];

/**
 * What to append, in one commit: `records` to the domain stream, `commands` to the commands stream, and to the events
 * stream `acks` as asides, then `events` with `at`. All empty: the wish was already fulfilled.
 */
export type Decision = {
  readonly records: readonly SessionRecord[];
  readonly commands: readonly RunnerCommand[];
  readonly events: readonly PublicEvent[];
  readonly acks: readonly Ack[];
  /** The instant for the events, as clients see it. */
  readonly at: string;
  /** The state after `records`. */
  readonly state: SessionState;
};

export type Decided = Result<Decision, Refusal>;
