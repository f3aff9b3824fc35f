import type { Json } from '@concerto/base';
import type { SuspendEvent } from '@concerto/protocol';
import { requestOf, type Verdict } from '@concerto/rules';
import type { Routing, SessionState } from '@concerto/session';
import type { CatalogEntry } from '../catalog.ts';
import type { Report } from '../ports.ts';
import { folderOf, resolvedPaths } from './request-risk.ts';
import type { RuleBook } from './rule-book.ts';

/** Who answers a request before a person does, decided where the agent runs: only there its links can be followed. */
export type Route = (event: SuspendEvent) => Promise<Routing | undefined>;

export type RouteOptions = {
  readonly rules: RuleBook;
  readonly entry: CatalogEntry;
  /** The session as it stands. */
  readonly session: () => SessionState | undefined;
  readonly report: Report;
};

export function routeFor({ rules, entry, session, report }: RouteOptions): Route {
  const { name: agent, answerWithinMs, onTimeout } = entry;
  const limits = {
    ...(answerWithinMs === undefined ? {} : { answerWithinMs }),
    ...(onTimeout === undefined ? {} : { onTimeout }),
  };
  const folder = entry.kind === 'agent' ? folderOf(entry.spec) : undefined;
  return async (event) => {
    const state = session();
    try {
      const set = await rules.setFor(agent, state?.rules ?? []);
      if (set.isEmpty && Object.keys(limits).length === 0) return undefined;
      const asked = requestOf(event, { agent, template: state?.template, folder });
      const resolved = await resolvedPaths(folder, asked.paths);
      return { ...outcomeOf(set.decide({ ...asked, resolved }), event), ...limits };
    } catch (cause) {
      // A person is never left out because rules could not be read.
      report(`agent ${agent}: the rules could not be read, a person is asked`, cause);
      return { reason: 'the rules could not be read', ...limits };
    }
  };
}

function outcomeOf({ decide, rule = '', reason }: Verdict, event: SuspendEvent): Routing {
  if (decide === 'pass') return {};
  if (decide === 'ask') return { reason: reason ?? `${rule} asks a person` };
  const told = reason === undefined ? {} : { reason };
  return { answer: { response: responseOf(decide, event), by: rule, ...told } };
}

function responseOf(decide: string, event: SuspendEvent): Json {
  const isBudget = event.type === 'queryConsent' && event.consentType === 'budget';
  if (decide === 'allow') return isBudget ? 'more' : true;
  if (decide === 'deny') return isBudget ? 'stop' : false;
  return decide.slice('answer:'.length);
}
