import type { AgentProtocol, Json, JsonObject } from '@concerto/base';
import type { EndOptions, InterruptOptions, ProcessIdentity } from '@concerto/keeper';
import type {
  AgentCapability,
  AgentMessage,
  AgentMessageId,
  ConversationPlace,
  InitAckMessage,
  Line,
  LiveSetting,
  Part,
  Usage,
  UsageSource,
  WorkEvent,
} from '@concerto/protocol';
import type { AgentError } from './agent-error.ts';
import type { AgentProcess, ProcessOptions } from './agent-process.ts';
import type { KeptProcess } from './kept-process.ts';
import type { Sandbox } from './sandbox.ts';

/** An agent as the manifest declares it. Times are in milliseconds. */
export type AgentSpec = {
  readonly name: string;
  readonly protocol?: AgentProtocol;
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the few variables every agent gets. `${NAME}` in a value is read from our own environment when the agent starts. */
  readonly env?: Readonly<Record<string, string>>;
  readonly workingDir?: string;
  /** Without one it runs as any process of this user. */
  readonly sandbox?: Sandbox;
  /** Sent as `init` when there are any. */
  readonly params?: JsonObject;
  /** Values in the params that must not be seen: struck out of anything we show. */
  readonly secrets?: readonly string[];
  /**
   * What a prompt is on our own wire: `text` a bare line, `json` (the default) an object, `line-or-json` a bare line if it
   * is one and else an object. With params it is always an object.
   */
  readonly inputFormat?: 'text' | 'json' | 'line-or-json';
  readonly outputFormat?: 'text' | 'json';
  /** What a line is that is no typed message, before the first typed message: default `result`. */
  readonly plainText?: 'result' | 'log' | 'error';
  /** Types of files that it takes, such as `image/*`; what its driver or its announcement says unless given. */
  readonly accepts?: readonly string[];
};

export type StartOptions = {
  /** How long `init_ack` may take; default 14.5 s. */
  readonly initTimeoutMs?: number;
  /** How long each step of ending the process may take; default 2 s for each. */
  readonly endGraceMs?: number;
  /**
   * A conversation to go on with, by the name that an earlier process gave it in a `conversation` message; a driver that
   * cannot find it begins a new one and says so. Agents of our own wire keep their conversations themselves.
   */
  readonly conversation?: string;
  /** A conversation to begin a new one from, up to a place in it. A driver that cannot find it fails the start. */
  readonly fork?: ConversationPlace;
  /** What the conversation has cost so far: agents bill the whole of it, also after a restart. */
  readonly spentMicroUsd?: number;
  /** Ends the start, and the process with it. */
  readonly signal?: AbortSignal;
  /** Called as soon as there is a process, before any handshake, so that a crash of ours cannot lose it. */
  readonly onProcess?: (identity: ProcessIdentity) => void | Promise<void>;
  /** Each line it writes on stderr, without its newline and with secrets struck out. */
  readonly onStderr?: (line: string) => void;
  /** A word of ours, once for each process, about how it is spoken to: for the author of the manifest. */
  readonly onNotice?: (message: string) => void;
  /** Each line it writes on stdout as it came, before anything is made of it. */
  readonly onLine?: (line: Line) => void;
  /**
   * Called once after the exit with the processes it had started and left running, before they are ended; none when it
   * left none. Linux only: elsewhere it is always called with none.
   */
  readonly onLeftovers?: (pids: readonly number[]) => void;
  /** A keeper holds its process, which outlives us; or one that it holds is taken up. */
  readonly kept?: KeptAgent;
};

/** What a driver's words depend on beside what is said to it. */
export type StartedWith = Pick<StartOptions, 'conversation' | 'fork' | 'spentMicroUsd'> & { readonly spec: AgentSpec };

/** An agent that a keeper will hold, or holds; made by an `AgentKeeper`. */
export type KeptAgent = {
  /** What was asked of it before, by the marks that whoever asked gave. */
  readonly marks: ReadonlySet<string>;
  /** What it was started with, when it is taken up: what the manifest says now does not count for it. */
  readonly recorded: (StartedWith & { readonly identity: ProcessIdentity }) | undefined;
  readonly current: KeptProcess | undefined;
  readonly tell: (started: StartedWith) => void;
  readonly process: (spec: AgentSpec, options: ProcessOptions) => Promise<AgentProcess>;
};

/** What only an agent that a keeper holds has. */
export type Kept = {
  readonly marks: ReadonlySet<string>;
  /** Names what is asked next: the next owner finds it among the marks. What `request` asks is named by its id. */
  readonly mark: (name: string) => void;
  /** Its reader has read all that was said before; at once for one that has just begun. */
  readonly takenUp: Promise<void>;
  /** An id for what was said there: unguessable, and the same whoever hears it. */
  readonly idAt: (place: OutputPlace) => string;
  /** It goes on without us; its output ends here. */
  readonly detach: () => void;
  /** Its exit is on record: nothing of it need be kept. */
  readonly forget: () => void;
};

export type AgentExit = {
  readonly code: number | null;
  readonly signal: string | null;
  /** The end of what it wrote on stderr. */
  readonly stderr: string;
  /** Where it was not the process that told. */
  readonly why?: string;
};

/** Where something that an agent said stands among all that it says: which step of its driver, and the how many-th of it. */
export type OutputPlace = { readonly step: number; readonly index: number };

/** What can be said again, by an agent that another owner takes up, has its place. */
export type Placed = { readonly at?: OutputPlace };

export type AgentOutput =
  | {
      readonly kind: 'message';
      readonly message: Exclude<AgentMessage, InitAckMessage>;
      /** Exactly what was sent, all fields. */
      readonly raw: JsonObject & { readonly type: string };
      /** It came as plain text and stands for a `result` or a `log`. */
      readonly plain?: true;
      /** Where the agent left the message's shape. */
      readonly problem?: string;
      /** What a session shows of it in place of what our wire's table says. */
      readonly shown?: readonly WorkEvent[];
    }
  /** What a session shows and a program does not hear: it is about the agent, not about the work. */
  | { readonly kind: 'events'; readonly events: readonly WorkEvent[] }
  /** It begins a turn by itself: what it says from here to a `result` or an `error` is of that. */
  | { readonly kind: 'begun' }
  /** Since the last time. */
  | { readonly kind: 'usage'; readonly usage: Usage; readonly source?: UsageSource }
  /** The agent no longer waits for an answer to the message with this id. */
  | { readonly kind: 'withdrawn'; readonly id: AgentMessageId; readonly reason: string }
  /** An `init_ack` nobody asked for: what the agent can do is now known. */
  | { readonly kind: 'announced'; readonly capabilities: readonly AgentCapability[]; readonly version?: string }
  /** The agent broke the wire. When `fatal`, a message may be lost and the turn cannot be trusted to end. */
  | { readonly kind: 'violation'; readonly error: AgentError; readonly fatal: boolean }
  /** Always the last one. */
  | { readonly kind: 'exit'; readonly exit: AgentExit; readonly error: AgentError };

export type AgentPrompt = {
  readonly text: string;
  /** All of it, in order, where it is more than text; files have their bytes with them. */
  readonly parts?: readonly Part[];
  readonly context?: Json;
  readonly session?: string;
  readonly id?: string;
};

/** Said into a turn. */
export type AgentSteer = Pick<AgentPrompt, 'text' | 'parts'> & { readonly id: string };

export type AgentReply = {
  /** The type of the message this answers. */
  readonly inReplyTo: string;
  readonly inReplyToId?: AgentMessageId;
} & ({ readonly value: Json /** Why it is a no. */; readonly reason?: string } | { readonly error: Json });

export type AgentSettings = Readonly<Partial<Record<LiveSetting, string>>>;

export type AgentVerb = 'interrupt' | 'pause' | 'resume' | 'cancel';

/**
 * A live agent, whatever protocol it speaks. Writes resolve when the agent's pipe has taken them and reject with an
 * `AgentError`; the output is read once, and the agent waits when its reader is slow.
 */
export type AgentConnection = {
  readonly spec: AgentSpec;
  readonly identity: ProcessIdentity;
  /** What the agent has announced so far; may still arrive after the start when no `init` was sent. */
  readonly capabilities: ReadonlySet<AgentCapability>;
  /** By name, those we have no use for too; where it is missing, `capabilities` is all. */
  readonly announced?: readonly string[];
  readonly version: string | undefined;
  /** Only where a keeper holds its process. */
  readonly kept?: Kept;

  /** Everything the agent says, in order, in batches of what is already there. One reader only. */
  readonly output: AsyncIterable<readonly (AgentOutput & Placed)[]>;

  prompt(prompt: AgentPrompt): Promise<void>;
  reply(reply: AgentReply): Promise<void>;
  /** A `response` that is written as one line already, which is sent as it is. */
  replyLine?(line: string): Promise<void>;
  /** Only when announced, else rejects with `not-announced`. The agent's answer comes as an `ack` in the output. */
  steer(steer: AgentSteer): Promise<void>;
  request(verb: AgentVerb, id: string): Promise<void>;
  /** Switches what can be switched while it runs; resolves when the agent has done so, and rejects with why not. */
  configure?(settings: AgentSettings): Promise<void>;

  /**
   * For an agent without the capability: SIGINT, then SIGTERM, then SIGKILL to the process group. Stops climbing when
   * `settled` aborts (the agent ended its turn and lives on); then resolves with undefined.
   */
  interruptProcess(options?: InterruptOptions): Promise<AgentExit | undefined>;
  /** Stops the whole process group where it stands, and lets it go on; the last resort of a pause. */
  freeze(): void;
  thaw(): void;
  /**
   * Ends stdin, then SIGTERM, then SIGKILL to the process group; nothing the agent started is left. Repeatable. `atWork`:
   * the end of stdin is not waited for, because an agent in the middle of its work may not look there.
   */
  end(options?: EndOptions): Promise<AgentExit>;
  readonly exited: Promise<AgentExit>;
};
