import type { AgentKeeper, KeptAgent, OutputPlace } from '@concerto/agents';
import type { DocumentWrite, EventLog } from '@concerto/log';
import { RunnerCommand, readStored } from '@concerto/protocol';
import type { Dispatch, SessionState } from '@concerto/session';
import * as z from 'zod';
import type { Tenure } from '../session/tenure.ts';
import { wasToldSilent } from '../session/told-silent.ts';
import type { WorkerPlace } from '../worker.ts';
import type { ProcessRegister } from './process-register.ts';

/** Whoever starts agents so that they outlive us. */
export type KeepsAgents = Pick<AgentKeeper, 'begin' | 'attach' | 'list' | 'end'>;

const heardCollection = 'heard';
const pageEntries = 1_000;

const Heard = z.object({
  incarnation: z.number(),
  run: z.string().optional(),
  step: z.number(),
  index: z.number(),
});

/** The name under which a keeper holds an agent. */
export function keptName(session: string, incarnation: number): string {
  return `${session}#${incarnation}`;
}

/** Whose it is; undefined for a name that we did not give. */
export function readKeptName(name: string): { readonly session: string; readonly incarnation: number } | undefined {
  const [, session, incarnation] = /^(.+)#(\d+)$/.exec(name) ?? [];
  return session === undefined ? undefined : { session, incarnation: Number(incarnation) };
}

/** How far the log has heard an agent or a program, written in the same commit as what it heard. */
export function heardDocument(session: string, incarnation: number, { run, step, index }: WorkerPlace): DocumentWrite {
  const value = JSON.stringify({ incarnation, run, step, index });
  return { collection: heardCollection, key: session, value };
}

/** Its exit is on record, or its session is deleted. */
export function heardOut(session: string): DocumentWrite {
  return { collection: heardCollection, key: session, value: undefined };
}

/** Undefined when nothing of this incarnation is on record. */
async function readHeard(log: EventLog, session: string, incarnation: number): Promise<OutputPlace | undefined> {
  const stored = await log.getDocument(heardCollection, session);
  if (stored === undefined) return undefined;
  const heard = readStored(Heard, JSON.parse(stored.value));
  return heard.incarnation === incarnation ? { step: heard.step, index: heard.index } : undefined;
}

/** The same of a run of a program; undefined where nobody noted it, as older versions did not. */
export async function readHeardOfRun(log: EventLog, session: string, run: string): Promise<OutputPlace | undefined> {
  const stored = await log.getDocument(heardCollection, session);
  const heard = stored === undefined ? undefined : readStored(Heard, JSON.parse(stored.value));
  return heard?.run === run ? { step: heard.step, index: heard.index } : undefined;
}

export function isHeard(at: OutputPlace | undefined, heard: OutputPlace | undefined): boolean {
  if (at === undefined || heard === undefined) return false;
  return at.step < heard.step || (at.step === heard.step && at.index <= heard.index);
}

export type Held = {
  readonly incarnation: number;
  readonly agent: KeptAgent;
  readonly heard: OutputPlace | undefined;
  /** Its owner before had told how long nothing was heard of it. */
  readonly isToldSilent: boolean;
  /** All that was commanded of it so far. */
  readonly commands: readonly OfProcess[];
};

/** Or why there is none that goes on; the usual words where nobody could have held it. */
export type Claimed = { readonly held: Held } | { readonly held?: undefined; readonly lost: string | undefined };

export type KeepingPorts = {
  readonly log: EventLog;
  readonly keeper?: KeepsAgents | undefined;
  readonly processes: Pick<ProcessRegister, 'endAllOf' | 'adopt'>;
};

/** What becomes of the agent of a session that was just claimed: it is taken up, or what is left of it is ended. */
export async function claimAgent(
  { log, keeper, processes }: KeepingPorts,
  { session, epoch }: Tenure,
  state: SessionState,
): Promise<Claimed> {
  const isKept = keeper !== undefined && state.kind === 'agent';
  const claimed: Claimed = isKept ? await takeUp(keeper, log, state, epoch) : { lost: undefined };
  const identity = claimed.held?.agent.recorded?.identity;
  if (identity === undefined) await processes.endAllOf(session);
  else await processes.adopt({ session, epoch }, identity);
  return claimed;
}

/**
 * The session's agent, if a keeper of this machine still holds it. What else it holds of the session is ended: an
 * owner that was killed while its agent ended may have left it.
 */
async function takeUp(
  keeper: KeepsAgents,
  log: EventLog,
  { id: session, agentProcess }: SessionState,
  epoch: number,
): Promise<Claimed> {
  const incarnation = agentProcess.kind === 'none' ? undefined : agentProcess.incarnation;
  for (const { agent: name } of await keeper.list()) {
    const whose = readKeptName(name);
    if (whose?.session === session && whose.incarnation !== incarnation) await keeper.end(name, { epoch, stepMs: 0 });
  }
  const name = incarnation === undefined ? undefined : keptName(session, incarnation);
  const agent = name === undefined ? undefined : await keeper.attach(name, epoch);
  if (incarnation === undefined || name === undefined || agent === undefined) {
    return { lost: 'the agent was lost: no keeper on this machine holds it' };
  }
  const commands = await readCommands(log, session, incarnation);
  // Its answers to words that nobody has given yet would be taken for answers to those that are given next.
  if (wasToldMore(agent.marks, commands)) {
    agent.current?.detach();
    await keeper.end(name, { epoch, stepMs: 0 });
    return { lost: 'the agent was ended: the store came back with less than it had been told' };
  }
  const heard = await readHeard(log, session, incarnation);
  const isToldSilent = await wasToldSilent(log, session, incarnation);
  return { held: { incarnation, agent, heard, isToldSilent, commands } };
}

/** What is commanded is on record before anybody is told of it, unless the record was lost. */
function wasToldMore(marks: ReadonlySet<string>, commands: readonly OfProcess[]): boolean {
  const known = new Set<string>();
  let responds = 0;
  for (const command of commands) {
    if ('dispatchId' in command) known.add(command.dispatchId);
    else if ('requestId' in command) known.add(command.requestId);
    else if (command.type === 'respond') known.add(`${respondMark}${++responds}`);
  }
  return [...marks].some((mark) => !known.has(mark));
}

/** Replies to what was no request have no id; they are counted. */
export const respondMark = 'respond:';

type OfProcess = Exclude<RunnerCommand, { type: 'attend' | 'start' }>;
type Deliver = Extract<RunnerCommand, { type: 'deliver' }>;

export type Wanted = {
  /** The message that it was prompted with last. */
  readonly promptedBy: string | undefined;
  /** What was said into its turns. */
  readonly steers: readonly Deliver[];
  /** How many lines it was given in reply to what was no request. */
  readonly responds: number;
  /** It was handed over, but nobody said so. */
  readonly handedOver: Deliver | undefined;
  /** Answers that it was given, but nobody said so. */
  readonly answered: readonly string[];
  /** What was wanted of the process and is still to be done. */
  readonly commands: readonly OfProcess[];
};

/** Of all that was commanded of a process, what it has not got, or got without anybody saying so. */
export function stillWanted(state: SessionState, { agent: { marks }, commands }: Held): Wanted {
  const inFlight = dispatchInFlight(state)?.dispatchId;
  const flying = commands.findLast(
    (command): command is Deliver => command.type === 'deliver' && command.dispatchId === inFlight,
  );
  const isAnswered = ({ requestId }: { readonly requestId: string }): boolean =>
    marks.has(requestId) && state.requests.live.get(requestId)?.answer?.stage === 'sent';
  const prompted = commands.findLast(
    (command): command is Deliver =>
      command.type === 'deliver' && command.how === 'prompt' && marks.has(command.dispatchId),
  );
  const responds = [...marks].filter((mark) => mark.startsWith(respondMark)).length;
  const due = new Set(commands.filter(({ type }) => type === 'respond').slice(responds));
  const steers = commands.filter(
    (command): command is Deliver =>
      command.type === 'deliver' && command.how === 'steer' && marks.has(command.dispatchId),
  );
  return {
    promptedBy: prompted?.messageId,
    steers,
    responds,
    handedOver: flying !== undefined && marks.has(flying.dispatchId) ? flying : undefined,
    answered: commands.flatMap((command) =>
      command.type === 'answer' && isAnswered(command) ? [command.requestId] : [],
    ),
    commands: commands.filter((command) => due.has(command) || isWanted(command, state, marks, inFlight)),
  };
}

function isWanted(
  command: OfProcess,
  state: SessionState,
  marks: ReadonlySet<string>,
  inFlight: string | undefined,
): boolean {
  switch (command.type) {
    case 'deliver':
      return command.dispatchId === inFlight && !marks.has(inFlight);
    case 'answer':
    case 'withdraw':
      return !marks.has(command.requestId);
    case 'configure':
      return state.settingsAsked?.requestId === command.requestId;
    case 'kill':
    case 'stop':
      return true;
    case 'respond':
      return false;
    default:
      return state.control?.requestId === command.requestId;
  }
}

async function readCommands(log: EventLog, session: string, incarnation: number): Promise<readonly OfProcess[]> {
  const commands: OfProcess[] = [];
  for (let after = 0; ; ) {
    const page = await log.read({ session, stream: 'commands', after, limit: pageEntries });
    for (const { data } of page.entries) {
      const command = readStored(RunnerCommand, JSON.parse(data));
      if (command.type === 'attend' || command.type === 'start' || command.incarnation !== incarnation) continue;
      commands.push(command);
    }
    after = page.entries.at(-1)?.position ?? after;
    if (page.entries.length < pageEntries) return commands;
  }
}

export function dispatchInFlight({ queue: { inFlight, entries } }: SessionState): Dispatch | undefined {
  return inFlight === undefined ? undefined : entries.live.get(inFlight)?.dispatch;
}
