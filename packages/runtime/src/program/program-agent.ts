import type { AgentPrompt } from '@concerto/agents';
import type { Json, JsonObject } from '@concerto/base';
import type { IrAgent } from '@concerto/ir';
import type { WorldFailure } from './program-world.ts';

export type Message = JsonObject & { readonly type: string };

/** What the VM is given: the agent's own words, or what was seen of its process. */
export type Said =
  | { readonly message: Message; readonly place?: number }
  | { readonly observed: 'stderr'; readonly text: string };

/** A message that somebody else answered, and who. */
export type SettledMessage = { readonly type: string; readonly id: Json; readonly by: string };

/** What a program's agent says; whatever else its driver knows is not the program's business. */
export type ProgramAgentOutput =
  /** `place`: where it stands in the agent's journal. `isStale`: it belongs to no call that is open. */
  | { readonly kind: 'message'; readonly raw: Message; readonly place: number; readonly isStale?: boolean }
  | { readonly kind: 'stderr'; readonly text: string }
  | ({ readonly kind: 'overtaken' } & SettledMessage)
  /** What it said cannot be understood, or cannot be had any more. */
  | { readonly kind: 'violation'; readonly message: string }
  /** Nothing more comes of it. */
  | { readonly kind: 'gone'; readonly failure: WorldFailure };

/** Who hears an agent, each word in its order. */
export type AgentHearer = {
  hear(output: ProgramAgentOutput): void;
  /** Undefined, unless the program has not taken much of it: then resolves when it has taken more. */
  room(): Promise<void> | undefined;
};

/** A call as the program made it: its name is unique in the run, and the same when the run is repeated. */
export type ProgramCall = {
  readonly name: string;
  readonly listens: boolean;
  /** Of a session that is supervised: the types of messages that there are handlers for. */
  readonly wants?: readonly string[] | undefined;
};

/** An agent that a program calls: a session. */
export type ProgramAgent = {
  /** What it announced. */
  readonly capabilities: readonly string[];
  readonly version: string | undefined;
  /** Before anything is asked of it. */
  heardBy(hearer: AgentHearer): void;
  prompt(prompt: AgentPrompt, call: ProgramCall): Promise<void>;
  replyLine(line: string): Promise<void>;
  /** Never rejects. */
  end(): Promise<void>;
  /** A person is asked, or has it paused: its time stands still. */
  isHeld(): boolean;
  /** The name of its session, where all that this waits for are answers: of people, or of the program. */
  onlyWaits(): string | undefined;
  /** It was prompted for that call before. */
  knows(call: string): boolean;
  /** Takes a call up again that an earlier process had made; `place` is that of the last message which the program has. */
  takeUp(call: ProgramCall, place: number, replies: readonly string[]): Promise<void>;
};

/** One that is there, and the name of its declaration. */
export type LeftAgent = { readonly name: string; readonly agent: ProgramAgent };

export type StartProgramAgent = (agent: IrAgent, options: ProgramAgentStart) => Promise<ProgramAgent>;

type ProgramAgentStart = {
  /** Of the call for which it is started. */
  readonly name: string;
  readonly signal: AbortSignal;
};

/** For limits that a declaration sets over the manifest's. */
export function secondsOf(...candidates: readonly (Json | undefined)[]): number | undefined {
  return candidates.find((candidate) => typeof candidate === 'number');
}

/** Of a whole call, when neither the declaration nor the manifest says. */
const DEFAULT_TIMEOUT_SECONDS = 120;
const DEFAULT_INIT_TIMEOUT_SECONDS = 10;

export function callSeconds(agent: IrAgent, asked: number | null): number {
  return secondsOf(asked ?? undefined, agent.config.timeout, agent.manifest?.timeout) ?? DEFAULT_TIMEOUT_SECONDS;
}

export function initSeconds(agent: IrAgent, timeoutSeconds: number): number {
  const own = secondsOf(agent.config.init_timeout, agent.manifest?.init_timeout) ?? DEFAULT_INIT_TIMEOUT_SECONDS;
  return Math.min(own, timeoutSeconds);
}
