import type { Risk, Rule } from '@concerto/protocol';
import { mayConcern, type ReadyRule, readyRule } from './match-rule.ts';
import { RequestReading } from './request-reading.ts';
import { RuleIndex } from './rule-index.ts';
import type { RuleRequest } from './rule-request.ts';

/** A rule with its name: `session.1`, `agents.claude.3`, `store.ID`, `all.1`. */
export type NamedRule = { readonly id: string; readonly rule: Rule };

export type Verdict = {
  /** `pass`: no rule says anything. */
  readonly decide: string;
  readonly rule?: string;
  readonly reason?: string;
};

export type Explained = Verdict & {
  readonly risk: Risk;
  readonly unparsed?: string;
  readonly others: readonly { readonly rule: string; readonly decide: string }[];
};

/** So many combinations of tool, server, agent and template are remembered with the rules that may concern them. */
const remembered = 1_000;

/** Rules in their order; the first that matches decides. */
export class RuleSet {
  readonly #rules: readonly ReadyRule[];
  readonly #concerned = new Map<string, RuleIndex>();

  constructor(rules: readonly NamedRule[]) {
    this.#rules = rules.map(({ id, rule }) => readyRule(id, rule));
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  decide(request: RuleRequest): Verdict {
    const reading = new RequestReading(request);
    const found = this.#concerning(request).first(reading);
    return found === undefined ? { decide: 'pass' } : verdictOf(found);
  }

  /** The same, with what else would have matched. */
  explain(request: RuleRequest): Explained {
    const reading = new RequestReading(request);
    const [first, ...others] = this.#concerning(request).matching(reading);
    const unparsed = request.command?.line.unclear;
    return {
      ...(first === undefined ? { decide: 'pass' } : verdictOf(first)),
      risk: reading.risk,
      ...(unparsed === undefined ? {} : { unparsed }),
      others: others.map(({ id, decide }) => ({ rule: `rule:${id}`, decide })),
    };
  }

  #concerning(request: RuleRequest): RuleIndex {
    const { ask, tool, server, agent, template } = request;
    const key = JSON.stringify([ask, tool, server, agent, template]);
    const known = this.#concerned.get(key);
    if (known !== undefined) return known;
    const found = new RuleIndex(this.#rules.filter((rule) => mayConcern(rule, request)));
    if (this.#concerned.size >= remembered) this.#concerned.clear();
    this.#concerned.set(key, found);
    return found;
  }
}

function verdictOf({ id, decide, reason }: ReadyRule): Verdict {
  return { decide, rule: `rule:${id}`, ...(reason === undefined ? {} : { reason }) };
}
