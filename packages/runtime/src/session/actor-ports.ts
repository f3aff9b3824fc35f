import type { EventLog } from '@concerto/log';
import type { ToolConfig } from '@concerto/protocol';
import type { SessionState } from '@concerto/session';
import type { CatalogEntry } from '../catalog.ts';
import type { Clock, Environment, MintId, Report, StartWork } from '../ports.ts';
import type { KeepsAgents } from './kept-agents.ts';
import type { Ownership } from './owner-writer.ts';
import type { ProcessRegister } from './process-register.ts';
import type { Route } from './route-request.ts';
import type { SessionStore } from './session-store.ts';

/** What the owner of a session has of the world. */
export type ActorPorts = {
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly mintId: MintId;
  readonly startAgent: StartWork;
  readonly processes: Pick<ProcessRegister, 'remember' | 'adopt' | 'forget' | 'endAllOf' | 'end' | 'here'>;
  /** Agents that are started through it outlive us; without one they end with us. */
  readonly keeper?: KeepsAgents | undefined;
  readonly report: Report;
  /** Where secrets are looked up; our own variables unless given. */
  readonly environment?: Environment;
  /** Who answers before a person does. */
  readonly route?: Route;
  /** Told where the session stands after every decision that the owner makes or sees. */
  readonly stands?: (state: SessionState) => void;
};

export type AgentEntry = Extract<CatalogEntry, { kind: 'agent' }>;

/** What is owned: the session, as what, and whether it ends with its first result. */
export type Owned = {
  readonly own: Ownership;
  readonly entry: AgentEntry;
  readonly once: boolean;
  readonly tools: ToolConfig | undefined;
  /** Another session opened it, and hears it. */
  readonly isChild: boolean;
};

/** An agent that goes on without an owner, by the name under which its keeper holds it. */
export type LeftAgent = { readonly name: string; readonly pid: number };
