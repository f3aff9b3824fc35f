import type { Json } from '@concerto/base';
import { type IrModule, type IrSupervisor, SUPERVISED } from '@concerto/ir';
import { type SessionState, statusOf } from '@concerto/session';
import type { Catalog, CatalogEntry } from '../catalog.ts';
import type { ChildSessions } from '../children/child-sessions.ts';
import type { ProgramRequest } from '../program/machine/machine.ts';
import { WorldFailure } from '../program/program-world.ts';
import type { RunOptions } from '../program/run-program.ts';
import type { ServiceRefusal } from '../session/service-refusal.ts';

/** The session that a program answers for, the name of its supervisor, and who it is there: `supervisor:guard`. */
export type Supervises = { readonly session: string; readonly name: string; readonly as: string };

export function supervisesOf(name: string, state: SessionState | undefined): Supervises | undefined {
  const session = state?.supervises;
  return session === undefined ? undefined : { session, name, as: `supervisor:${name}` };
}

/** What is run: `main`, or the supervisor of that name; the only one there is may be called otherwise. */
export function entryOf(module: IrModule, supervises: Supervises | undefined): RunOptions['entry'] {
  if (supervises === undefined) return 'main';
  const found = supervisorOf(module, supervises.name);
  if (found === undefined) throw new WorldFailure('spawn', noSupervisor(module, supervises.name));
  return { function: found.function };
}

/** What answers for sessions in the program of that name. */
export function supervisorOf({ supervisors = [] }: IrModule, program: string): IrSupervisor | undefined {
  const only = supervisors.length === 1 ? supervisors[0] : undefined;
  return supervisors.find(({ name }) => name === program) ?? only;
}

export function noSupervisor({ supervisors = [] }: IrModule, program: string): string {
  const names = supervisors.map(({ name }) => name).join(', ');
  const there = names === '' ? 'it has no function with `@supervisor`' : `its supervisors are ${names}`;
  return cannotSupervise(program, there);
}

export function cannotSupervise(program: string, why: string): string {
  return `program ${JSON.stringify(program)} cannot supervise: ${why}`;
}

/** What the manifest says of an agent that a program declares, whichever of them opens a session of it. */
export function declaredAs(module: IrModule, catalog: Catalog, agent: string): CatalogEntry | undefined {
  const declared = module.agents.find(({ name }) => name === agent);
  return declared === undefined ? undefined : catalog.find('agent', declared.connector);
}

type SessionRequest = Extract<ProgramRequest, { kind: 'session' }>;

/** What a program asks of the session of its agent, or of the one that it supervises. The same request again is the same wish. */
export async function askOfSession(
  children: ChildSessions,
  request: SessionRequest,
  supervises: Supervises | undefined,
): Promise<Json> {
  const { verb, session: name } = request;
  const { id, state } = await sessionMeant(children, name, supervises);
  const actor = name === SUPERVISED ? (supervises?.as ?? children.actor) : children.actor;
  const wish = `session-${request.id}`;
  switch (verb) {
    case 'id':
      return id;
    case 'status':
      return statusOf(state);
    case 'usage': {
      const { inputTokens, outputTokens, costMicroUsd } = state.usage;
      const cost = costMicroUsd === undefined ? {} : { cost_usd: costMicroUsd / 1e6 };
      return { input_tokens: inputTokens, output_tokens: outputTokens, ...cost };
    }
    case 'steer': {
      const content = request.text ?? '';
      const message = {
        messageId: children.idOf('m', wish),
        content,
        priority: 'immediate',
        source: 'program',
      } as const;
      return granted(await children.askAs(actor, id, { type: 'enqueue', ...message }));
    }
    case 'pause':
    case 'resume':
    case 'interrupt': {
      const requestId = children.idOf('c', wish);
      return granted(await children.askAs(actor, id, { type: 'control', kind: verb, requestId }));
    }
  }
}

function granted(refused: ServiceRefusal | undefined): null {
  if (refused !== undefined) throw new WorldFailure('refused', refused.message);
  return null;
}

type Meant = { readonly id: string; readonly state: SessionState };

/** The supervised one, or the last that was opened for the agent. */
async function sessionMeant(children: ChildSessions, name: string, supervises: Supervises | undefined): Promise<Meant> {
  if (name === SUPERVISED) {
    const state = supervises === undefined ? undefined : await children.stateOf(supervises.session);
    if (supervises === undefined || state === undefined)
      throw new WorldFailure('exited', 'there is no session to supervise');
    return { id: supervises.session, state };
  }
  const own = await children.ownState();
  for (const id of [...(own?.children ?? [])].reverse()) {
    const state = await children.stateOf(id);
    if (state?.agent === name) return { id, state };
  }
  throw new WorldFailure('exited', `agent ${name} has no session yet: call it first`);
}
