import { harmlessLine, parseDuration } from '@concerto/base';
import type { ConcertoClient } from '@concerto/client';
import { type PublicEvent, type ReplayedRequest, Rule, readStoredEvent } from '@concerto/protocol';
import { type NamedRule, type PastRequest, pastRequests, RuleSet, replayed, replayedCounts } from '@concerto/rules';
import { UsageError } from '../arguments.ts';
import { amount } from '../terminal/amount.ts';
import { paint } from '../terminal/paint.ts';
import { print, printJson } from '../terminal/print.ts';
import { ruledHere, type Whose } from './connectors-here.ts';
import { supervisorPolicy } from './replay-supervisor.ts';
import { readRuleFile } from './rule-file.ts';
import { defineVerb } from './verb.ts';

const pageEvents = 2_000;
const pageSessions = 200;

/** Puts recorded requests before a new policy; 1 when an answer would be another one. */
export const replay = defineVerb({
  usage: 'ID --rules FILE | --supervisor PROGRAM|FILE',
  summary: 'put what was asked before another policy; 1 if an answer differs; --since 7d instead of ID: all',
  arguments: { min: 0, max: 1 },
  options: {
    rules: { type: 'string', value: 'FILE', help: 'the policy: a manifest, a part of one, or JSON' },
    supervisor: { type: 'string', value: 'PROGRAM', help: 'or a program of the manifest here, or a file' },
    since: { type: 'string', value: 'TIME', help: 'all sessions of so long, such as 7d' },
  },
  run: async (client, [id], { rules, supervisor, since, json }) => {
    if ((id === undefined) === (since === undefined))
      throw new UsageError('name a session, or say since when: --since 7d');
    const policy = policyIn(rules, supervisor);
    if (policy === undefined) return 2;
    const sessions = id === undefined ? await sessionsSince(client, since ?? '') : [await client.get(id)];
    const ruled = ruledHere(client);
    const all: ReplayedRequest[] = [];
    for (const session of sessions) {
      const events = await eventsOf(client, session.id);
      const { id: of, agent } = session;
      const past = pastRequests({ id: of, agent: await ruled(session) }, events);
      all.push(...(await policy(of, events, past)).map((request) => ({ ...request, agent })));
    }
    const differs = all.filter(({ outcome }) => outcome === 'differs');
    if (json) printJson({ requests: all, differs: differs.length });
    else report(all, sessions.length);
    return differs.length === 0 ? 0 : 1;
  },
});

type Events = readonly PublicEvent[];
type Policy = (session: string, events: Events, past: readonly PastRequest[]) => Promise<readonly ReplayedRequest[]>;

/** Undefined where it has errors, which were told. */
function policyIn(file: string | undefined, supervisor: string | undefined): Policy | undefined {
  if ((file === undefined) === (supervisor === undefined))
    throw new UsageError('name the policy: --rules FILE, or --supervisor PROGRAM');
  if (supervisor !== undefined) return supervisorPolicy(supervisor);
  const rules = readPolicy(file ?? '');
  return async (_session, _events, past) => past.map((request) => replayed(rules(request.agent), request));
}

/** The rules of a file that count for an agent, in their order. */
function readPolicy(file: string): (agent: string) => RuleSet {
  const { rules, manifest } = readRuleFile(file);
  const forAll = named('all', rules);
  const tables = { ...manifest?.programs, ...manifest?.assistants, ...manifest?.agents };
  return (agent) => {
    const own = Object.hasOwn(tables, agent) ? (tables[agent]?.rules ?? []) : [];
    return new RuleSet([
      ...named(
        `agents.${agent}`,
        own.map((rule) => Rule.parse(rule)),
      ),
      ...forAll,
    ]);
  };
}

function named(place: string, rules: readonly Rule[]): readonly NamedRule[] {
  return rules.map((rule, index) => ({ id: `${place}.${index + 1}`, rule }));
}

async function eventsOf(client: ConcertoClient, id: string): Promise<Events> {
  const events: PublicEvent[] = [];
  for (let after = 0; ; ) {
    const page = await client.events(id, { after, limit: pageEvents });
    events.push(...page.events.flatMap(eventIn));
    after = page.position;
    if (!page.more) return events;
  }
}

/** What a newer server says that we do not know is no word of a session. */
function eventIn(event: { readonly type: string }): readonly PublicEvent[] {
  const read = readStoredEvent(JSON.stringify(event));
  return read === undefined || read.type === 'unknown' ? [] : [read];
}

/** Those that changed since then, with whatever they opened. */
async function sessionsSince(client: ConcertoClient, since: string): Promise<readonly Whose[]> {
  const ms = parseDuration(since);
  if (ms === undefined) throw new UsageError('--since is a length of time, such as 7d or 12h');
  const from = Date.now() - ms;
  const found: Whose[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await client.list({ tree: true, limit: pageSessions, ...(cursor === undefined ? {} : { cursor }) });
    found.push(...page.sessions.filter(({ updatedAt }) => Date.parse(updatedAt) >= from));
    cursor = page.nextCursor;
    if (cursor === undefined) return found;
  }
}

function report(all: readonly ReplayedRequest[], sessions: number): void {
  for (const { session, requestId, what, before, now, outcome } of all) {
    if (outcome !== 'differs' || before === undefined) continue;
    print(`${paint('yellow', '≠')} ${session} ${requestId}  ${harmlessLine(what)}`);
    print(`    then  ${harmlessLine(before.decision)} by ${before.by}`);
    print(
      `    now   ${harmlessLine(now.decision)} by ${now.by}${now.reason === undefined ? '' : ` (${harmlessLine(now.reason)})`}`,
    );
  }
  const { requests, differs, same, open, spared } = replayedCounts(all);
  const counts = [
    `${differs} ${differs === 1 ? 'differs' : 'differ'}`,
    `${same} ${same === 1 ? 'is' : 'are'} the same`,
    ...(open === 0 ? [] : [`${open} ${open === 1 ? 'was' : 'were'} never decided`]),
  ];
  print(`${amount(requests, 'request')} of ${amount(sessions, 'session')}: ${counts.join(', ')}`);
  if (spared > 0) print(`${spared} that a person answered would be answered the same without one`);
}
