import { err, ok, type Result } from '@concerto/base';
import type { EventLog } from '@concerto/log';
import {
  type PolicyTried,
  type ProgramTests,
  type PublicEvent,
  type ReplayedRequest,
  readStored,
  type Session,
  SessionRecord,
  type TryPolicy,
  triedRequestsMax,
} from '@concerto/protocol';
import {
  comesToSupervisor,
  type PastRequest,
  pastRequests,
  replayed,
  replayedAnswer,
  replayedCounts,
  requestEvents,
} from '@concerto/rules';
import type { Catalog, LoadedProgram } from '../catalog.ts';
import type { Environment } from '../ports.ts';
import type { Machines } from '../program/machine/machine.ts';
import { testProgram } from '../program/test-program.ts';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import { pastSessions } from './past-sessions.ts';
import { replaySupervisor } from './replay-supervisor.ts';
import type { RuleBook } from './rule-book.ts';
import { ruledAs } from './ruled-as.ts';

const triedWithinMs = 30_000;
const answerWithinMs = 2_000;

export type TrialPorts = {
  readonly log: EventLog;
  readonly catalog: Catalog;
  readonly rules: RuleBook;
  readonly environment?: Environment;
  /** Where programs are run; in this thread unless given. */
  readonly machines?: Machines;
};

type Past = {
  readonly whose: Pick<Session, 'id' | 'agent'>;
  readonly events: readonly PublicEvent[];
  readonly requests: readonly PastRequest[];
};

/** What a policy makes of a session, and what of its events it has to hear for that: all of them unless it says. */
type Judge = {
  readonly wants?: ReadonlySet<string>;
  readonly judge: (past: Past, signal: AbortSignal) => Promise<readonly ReplayedRequest[]>;
};

/** Programs and policies, tried without anything coming of it; one at a time, because each takes what it may of this process. */
export class Trials {
  readonly #ports: TrialPorts;
  #isBusy = false;

  constructor(ports: TrialPorts) {
    this.#ports = ports;
  }

  /** Runs the tests of a program. */
  async test(program: string, signal?: AbortSignal): Promise<Result<ProgramTests, ServiceRefusal>> {
    return await this.#alone(async () => {
      const loaded = await this.#load(program);
      if (!loaded.ok) return loaded;
      const { machines } = this.#ports;
      return ok(await testProgram(loaded.value, { environment: this.#environment, signal, machines }));
    });
  }

  /** What a policy would have said to what was asked before. */
  async try(policy: TryPolicy, signal?: AbortSignal): Promise<Result<PolicyTried, ServiceRefusal>> {
    return await this.#alone(async () => {
      const judge = await this.#judgeOf(policy);
      if (!judge.ok) return judge;
      const late = AbortSignal.timeout(triedWithinMs);
      const ending = signal === undefined ? late : AbortSignal.any([late, signal]);
      return ok(await this.#tried(judge.value, policy.session, ending));
    });
  }

  async #alone<T>(work: () => Promise<Result<T, ServiceRefusal>>): Promise<Result<T, ServiceRefusal>> {
    if (this.#isBusy) return err(refusal('trial_running', 'something else is being tested or tried; ask again'));
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#isBusy = false;
    }
  }

  get #environment(): Environment {
    return this.#ports.environment ?? process.env;
  }

  async #load(program: string): Promise<Result<LoadedProgram, ServiceRefusal>> {
    const entry = this.#ports.catalog.find('program', program);
    if (entry?.kind !== 'program')
      return err(refusal('no_such_program', `there is no program ${JSON.stringify(program)}`));
    const loaded = await entry.load();
    return loaded.ok ? loaded : err(refusal('broken_program', loaded.error));
  }

  async #judgeOf({ rules, supervisor }: TryPolicy): Promise<Result<Judge, ServiceRefusal>> {
    if (supervisor !== undefined && rules === undefined) return await this.#supervisor(supervisor);
    if (rules === undefined || supervisor !== undefined)
      return err(refusal('invalid_policy', 'name `rules` or a `supervisor`, and not both'));
    return ok({
      wants: requestEvents,
      judge: async ({ whose, requests }) => {
        const code = await codeOf(this.#ports.log, whose.id);
        const agent = await ruledAs(this.#ports, { agent: whose.agent, code });
        const set = this.#ports.rules.setWith(agent, rules);
        return requests.map((request) => ({ ...replayed(set, { ...request, agent }), agent: whose.agent }));
      },
    });
  }

  async #supervisor(name: string): Promise<Result<Judge, ServiceRefusal>> {
    const loaded = await this.#load(name);
    if (!loaded.ok) return loaded;
    const { module, projectDirectory } = loaded.value;
    if ((module.supervisors ?? []).length === 0)
      return err(refusal('no_supervisor', `${name} has no function with \`@supervisor\``));
    const environment = this.#environment;
    const { machines } = this.#ports;
    const places = {
      name,
      environment,
      directory: projectDirectory,
      projectDirectory,
      withinMs: answerWithinMs,
      machines,
    };
    return ok({
      judge: async ({ whose: { id }, events, requests }, signal) => {
        const asked = new Set(requests.filter(comesToSupervisor).map(({ requestId }) => requestId));
        const answers = await replaySupervisor(module, { id, events, asked }, { ...places, signal });
        return requests.map((request) => replayedAnswer(`supervisor:${name}`, request, answers.get(request.requestId)));
      },
    });
  }

  async #tried({ wants, judge }: Judge, session: string | undefined, signal: AbortSignal): Promise<PolicyTried> {
    const all: ReplayedRequest[] = [];
    const sessions = pastSessions(this.#ports.log, { session, wants });
    for (let read = 0; ; read++) {
      const next = await sessions.next();
      if (next.done === true || signal.aborted) return summary(all, read, next.done !== true || next.value);
      const { whose, events } = next.value;
      const requests = pastRequests(whose, events);
      if (requests.length > 0) all.push(...(await judge({ whose, events, requests }, signal)));
    }
  }
}

/** What its agent is declared in, where a program has opened it. */
async function codeOf(log: EventLog, session: string): Promise<string | undefined> {
  const { entries } = await log.read({ session, stream: 'domain', after: 0, limit: 1 });
  const [first] = entries.map(({ data }) => readStored(SessionRecord, JSON.parse(data)));
  return first?.type === 'created' ? first.code : undefined;
}

const order = { differs: 0, open: 1, same: 2 } as const;

function summary(all: readonly ReplayedRequest[], sessions: number, isCut: boolean): PolicyTried {
  const requests = all.toSorted((a, b) => order[a.outcome] - order[b.outcome]).slice(0, triedRequestsMax);
  return { requests, counts: { sessions, ...replayedCounts(all) }, isCut };
}
