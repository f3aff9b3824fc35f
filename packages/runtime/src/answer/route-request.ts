import type { Json } from '@concerto/base';
import type { SuspendEvent } from '@concerto/protocol';
import { requestOf, type Verdict } from '@concerto/rules';
import { type Answerer, type Routing, runningPrompt, type SessionState } from '@concerto/session';
import type { Catalog, CatalogEntry } from '../catalog.ts';
import type { Report } from '../ports.ts';
import { verdictResponse } from './answering.ts';
import { folderOf, resolvedPaths } from './request-risk.ts';
import type { RuleBook } from './rule-book.ts';

/** Who answers a request before a person does, decided where the agent runs: only there its links can be followed. */
export type Route = (event: SuspendEvent) => Promise<Routing | undefined>;

export type RouteOptions = {
  readonly rules: RuleBook;
  readonly catalog: Catalog;
  readonly entry: CatalogEntry;
  /** The session as it stands. */
  readonly session: () => SessionState | undefined;
  readonly report: Report;
};

/** How long a model or a supervisor may take, and how often models are asked for one session, unless the manifest says so. */
const askWithinMsDefault = 60_000;
const modelAsksMaxDefault = 200;

export function routeFor({ rules, catalog, entry, session, report }: RouteOptions): Route {
  const declared = declaredAs(entry, catalog);
  const { name: agent, answerWithinMs, onTimeout, askWithinMs = askWithinMsDefault } = declared;
  const limits = {
    ...(answerWithinMs === undefined ? {} : { answerWithinMs }),
    ...(onTimeout === undefined ? {} : { onTimeout }),
  };
  return async (event) => {
    const state = session();
    if (state !== undefined && isListenedTo(state, event))
      return { answerers: [{ to: `program:${state.parent}` }, person] };
    const own = state?.settings?.workingDir;
    const folder = own ?? (entry.kind === 'agent' ? folderOf(entry.spec) : undefined);
    const answerers: readonly Answerer[] = [
      ...(state?.supervisor === undefined ? [] : [{ to: `supervisor:${state.supervisor}`, withinMs: askWithinMs }]),
      person,
    ];
    try {
      const set = await rules.setFor(agent, state?.rules ?? []);
      if (set.isEmpty && answerers.length === 1 && Object.keys(limits).length === 0) return undefined;
      const asked = requestOf(event, { agent, template: state?.template, folder });
      const resolved = await resolvedPaths(folder, asked.paths);
      const way = { answerers, withinMs: askWithinMs, noModel: noModel(declared, state) };
      return { ...outcomeOf(set.decide({ ...asked, resolved }), event, way), ...limits };
    } catch (cause) {
      // A person is never left out because rules could not be read.
      report(`agent ${agent}: the rules could not be read, a person is asked`, cause);
      return { reason: 'the rules could not be read', ...limits };
    }
  };
}

/** An agent of a program answers to what is said of its connector. */
function declaredAs(entry: CatalogEntry, catalog: Catalog): CatalogEntry {
  const { connector } = entry.kind === 'agent' ? entry : {};
  return (connector === undefined ? undefined : catalog.find('agent', connector)) ?? entry;
}

/** What a model or a supervisor has for a request of the session. */
export function askWithin(state: SessionState | undefined, catalog: Catalog): number {
  const entry = state === undefined ? undefined : catalog.find(state.kind, state.agent);
  return (entry === undefined ? undefined : declaredAs(entry, catalog).askWithinMs) ?? askWithinMsDefault;
}

const person: Answerer = { to: 'person' };

/** The program that began the turn answers first: it has handlers for what is asked. */
function isListenedTo(state: SessionState, event: SuspendEvent): boolean {
  const isBudget = event.type === 'queryConsent' && event.consentType === 'budget';
  return !isBudget && state.parent !== undefined && runningPrompt(state)?.listens === true;
}

/** Why models are not asked any more in this session. */
function noModel(
  { modelAsksMax = modelAsksMaxDefault }: CatalogEntry,
  state: SessionState | undefined,
): string | undefined {
  if ((state?.modelAsks ?? 0) < modelAsksMax) return undefined;
  return `models were asked ${modelAsksMax} times in this session, the most there may be`;
}

type Way = {
  readonly answerers: readonly Answerer[];
  readonly withinMs: number;
  /** Why no model is asked. */
  readonly noModel: string | undefined;
};

function outcomeOf({ decide, rule = '', reason }: Verdict, event: SuspendEvent, way: Way): Routing {
  const { answerers, withinMs } = way;
  if (decide === 'pass') return { answerers };
  if (decide === 'ask') return { reason: reason ?? `${rule} asks a person` };
  if (decide.startsWith('model:')) {
    if (way.noModel !== undefined) return { answerers, reason: way.noModel };
    return { answerers: [{ to: decide, withinMs }, ...answerers], reason: reason ?? `${rule} asks a model` };
  }
  const told = reason === undefined ? {} : { reason };
  return { answer: { response: responseOf(decide, event), by: rule, ...told } };
}

function responseOf(decide: string, event: SuspendEvent): Json {
  if (decide === 'allow' || decide === 'deny') return verdictResponse(decide, event);
  return decide.slice('answer:'.length);
}
