import { err, nearest, ok, type Result } from '@concerto/base';
import type { EventLog } from '@concerto/log';
import type { PutRules, Rule, RuleList, RulesTried, StoredRule, TryRules } from '@concerto/protocol';
import { type NamedRule, RuleSet, ruleWarning, triedRequest } from '@concerto/rules';
import type { Catalog, CatalogEntry } from '../catalog.ts';
import type { MintId } from '../ports.ts';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import { unknownModel } from '../start/unknown-model.ts';
import { inForce, type KeptRule, newerWarning, readStoredRules, storedOf } from './stored-rules.ts';

/** Not a session's id: no client can propose one with this character. */
const rulesStream = '@rules';
const conflictsMax = 20;

type Named = StoredRule & { readonly id: string };
type StoreRules = { readonly kept: readonly KeptRule[]; readonly version: number };

const noRules: StoreRules = { kept: [], version: 0 };

export type RuleBookOptions = { readonly log: EventLog; readonly catalog: Catalog; readonly mintId: MintId };

/** The rules of the manifest and of the store, in their order; the store's are replaced as a whole, by version. */
export class RuleBook {
  readonly #options: RuleBookOptions;
  #known: StoreRules = noRules;
  readonly #sets = new Map<string, RuleSet>();

  constructor(options: RuleBookOptions) {
    this.#options = options;
    // A version may mean other rules by now.
    options.log.onRewind(() => {
      this.#known = noRules;
      this.#sets.clear();
    });
  }

  async list(): Promise<RuleList> {
    const { kept, version } = await this.#read();
    const agents = this.#options.catalog.list().map(({ name }) => name);
    const manifest = [
      ...this.#options.catalog
        .list()
        .flatMap((entry) => ofEntry(entry).map(({ id, rule }) => ({ id, rule: { ...rule, agent: entry.name } }))),
      ...this.#ofAll(),
    ];
    return {
      rules: [
        ...manifest.map(({ id, rule }) => ({
          ...rule,
          id: `rule:${id}`,
          source: 'manifest' as const,
          ...warned(rule, agents),
        })),
        ...kept.map((one) => ({
          ...one.rule,
          id: `rule:store.${one.rule.id}`,
          source: 'store' as const,
          ...warned(one.rule, agents, newerWarning(one)),
        })),
      ],
      version,
    };
  }

  /** Ids of rules that stay are kept; whoever saw an older list is told so. */
  async put({ rules, version }: PutRules, actor: string): Promise<Result<RuleList, ServiceRefusal>> {
    const stored = storedOf(rules);
    if (!stored.ok) return stored;
    const lost = unknownModel(stored.value, this.#options.catalog);
    if (lost !== undefined) return err(lost);
    const { kept } = await this.#read();
    const origins = new Map(kept.map(({ rule: { id, addedBy, from } }) => [id, { addedBy, from }]));
    const named = stored.value.map(({ id = this.#options.mintId('rule'), ...rule }) => ({
      addedBy: actor,
      ...rule,
      // Who added a rule, and from which request, stays with it.
      ...origins.get(id),
      id,
    }));
    const written = await this.#write(named, version);
    if (!written) {
      const current = await this.#read();
      const message = `the rules are at version ${current.version}, not ${version}: read them again`;
      return err(refusal('stale_rules', message, { version: current.version }));
    }
    return ok(await this.list());
  }

  /** Adds one for an agent, as somebody who answered wished. */
  async remember(
    rule: Rule,
    { agent, ...origin }: { readonly agent: string } & Required<Pick<StoredRule, 'addedBy' | 'from'>>,
  ): Promise<void> {
    for (let attempt = 0; attempt < conflictsMax; attempt++) {
      const { kept, version } = await this.#read();
      const added = { ...rule, agent, ...origin, id: this.#options.mintId('rule') };
      if (await this.#write([...kept.map((one) => one.rule), added], version)) return;
    }
    throw new Error(`the rules: ${conflictsMax} conflicts in a row`);
  }

  /** For whoever asks what is decided for one. */
  unknownAgent(agent: string): ServiceRefusal | undefined {
    const names = this.#options.catalog.list().map(({ name }) => name);
    if (names.includes(agent)) return undefined;
    const meant = nearest(agent, names);
    const hint = meant === undefined ? `there are ${names.join(', ')}` : `did you mean ${JSON.stringify(meant)}?`;
    return refusal('no_such_agent', `there is no agent ${JSON.stringify(agent)}; ${hint}`, { known: names });
  }

  async try({ agent, request, rules }: TryRules): Promise<RulesTried> {
    const asked = triedRequest(request, { agent });
    const set =
      rules === undefined
        ? await this.setFor(agent, [])
        : new RuleSet(rules.map((rule, index) => ({ id: `tried.${index + 1}`, rule })));
    const { decide: decision, others, ...rest } = set.explain(asked);
    return { decision, ...rest, others: others.map(({ rule, decide }) => ({ rule, decision: decide })) };
  }

  /** What counts for the next request of an agent: the session's own, the agent's, the store's for it, and those for all. */
  async setFor(agent: string, sessions: readonly Rule[]): Promise<RuleSet> {
    const { kept, version } = await this.#read();
    const key = JSON.stringify([agent, version, sessions]);
    const known = this.#sets.get(key);
    if (known !== undefined) return known;
    const set = this.#setOf(agent, sessions, inForce(kept));
    if (this.#sets.size >= 100) this.#sets.clear();
    this.#sets.set(key, set);
    return set;
  }

  /** What would count for an agent if these were the store's. */
  setWith(agent: string, stored: readonly StoredRule[]): RuleSet {
    return this.#setOf(
      agent,
      [],
      stored.map((rule, index) => ({ ...rule, id: rule.id ?? `new-${index + 1}` })),
    );
  }

  #setOf(agent: string, sessions: readonly Rule[], stored: readonly Named[]): RuleSet {
    const entry = this.#options.catalog.list().find(({ name }) => name === agent);
    const isOf = (rule: StoredRule): boolean => rule.agent === agent;
    const ofStore = (some: readonly Named[]): NamedRule[] => some.map((rule) => ({ id: `store.${rule.id}`, rule }));
    return new RuleSet([
      ...sessions.map((rule, index) => ({ id: `session.${index + 1}`, rule })),
      ...(entry === undefined ? [] : ofEntry(entry)),
      ...ofStore(stored.filter(isOf)),
      ...this.#ofAll(),
      ...ofStore(stored.filter((rule) => !isOf(rule))),
    ]);
  }

  #ofAll(): readonly NamedRule[] {
    return (this.#options.catalog.rules ?? []).map((rule, index) => ({ id: `all.${index + 1}`, rule }));
  }

  async #read(): Promise<StoreRules> {
    const { log } = this.#options;
    const version = await log.head(rulesStream, 'domain');
    if (version === this.#known.version) return this.#known;
    const page = await log.read({ session: rulesStream, stream: 'domain', after: version - 1, limit: 1 });
    const [entry] = page.entries;
    this.#known = { version, kept: entry === undefined ? [] : readStoredRules(entry.data) };
    return this.#known;
  }

  /** False when somebody else has written since. What is not known here of a rule stays with it. */
  async #write(rules: readonly Named[], version: number): Promise<boolean> {
    const { kept, version: known } = await this.#read();
    if (known !== version) return false;
    const unknown = new Map(kept.map((one) => [one.rule.id, one.unknown]));
    const whole = rules.map((rule) => ({ ...unknown.get(rule.id), ...rule }));
    const data = JSON.stringify({ type: 'rules-put', rules: whole });
    const appended = await this.#options.log.append({
      session: rulesStream,
      streams: [{ stream: 'domain', expected: version, entries: [{ type: 'rules-put', data }] }],
    });
    return appended.kind === 'appended';
  }
}

function ofEntry({ name, rules = [] }: CatalogEntry): readonly NamedRule[] {
  return rules.map((rule, index) => ({ id: `agents.${name}.${index + 1}`, rule }));
}

function warned(rule: Rule, agents: readonly string[], newer?: string): { readonly warning?: string } {
  const warning = newer ?? ruleWarning(rule, agents);
  return warning === undefined ? {} : { warning };
}
