import { err, ok, type Result } from '@concerto/base';
import { type PutRule, readStored, StoredRule, storedRuleId } from '@concerto/protocol';
import * as z from 'zod';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';

const Stored = z.looseObject({ rules: z.array(z.looseObject({})) });

/** A rule as it stands in the store; `unknown` are the keys that a newer version gave it. */
export type KeptRule = {
  readonly rule: StoredRule & { readonly id: string };
  readonly unknown: Readonly<Record<string, unknown>>;
};

export function readStoredRules(data: string): readonly KeptRule[] {
  const { rules } = Stored.parse(JSON.parse(data));
  return rules.map((stored, index) => {
    const rule = readStored(StoredRule, stored);
    const unknown = Object.entries(stored).filter(([key]) => !(key in rule));
    return { rule: { ...rule, id: rule.id ?? String(index + 1) }, unknown: Object.fromEntries(unknown) };
  });
}

/**
 * What counts of them here. A key that is not known may narrow what a rule is about: so it allows nothing, and refuses or
 * asks a person about all that the rest of it fits.
 */
export function inForce(kept: readonly KeptRule[]): readonly (StoredRule & { readonly id: string })[] {
  return kept.flatMap(({ rule, unknown }) => {
    const isWhole = Object.keys(unknown).length === 0;
    return isWhole || rule.decide === 'deny' || rule.decide === 'ask' ? [rule] : [];
  });
}

/** Why a rule does less here than where it was written. */
export function newerWarning({ unknown }: KeptRule): string | undefined {
  const keys = Object.keys(unknown);
  if (keys.length === 0) return undefined;
  return `written by a newer version: ${keys.join(', ')} ${keys.length === 1 ? 'is' : 'are'} not known here, so it allows nothing`;
}

/** Rules as they are put, which may be the rows of a list: without what only the list says. */
export function storedOf(put: readonly PutRule[]): Result<readonly StoredRule[], ServiceRefusal> {
  const rules: StoredRule[] = [];
  const ids = new Set<string>();
  for (const { source, warning: _warning, id: given, ...rule } of put) {
    const id = given === undefined ? undefined : storedRuleId(given);
    if (source === 'manifest' || (given !== undefined && id === undefined)) return err(notOfStore(given, source));
    if (id !== undefined && ids.has(id)) return err(refusal('invalid_rules', `two rules have the id ${id}`));
    if (id !== undefined) ids.add(id);
    rules.push({ ...rule, ...(id === undefined ? {} : { id }) });
  }
  return ok(rules);
}

function notOfStore(id = 'a rule', source: PutRule['source']): ServiceRefusal {
  const isOfManifest = source === 'manifest' || id.startsWith('rule:agents.') || id.startsWith('rule:all.');
  const why = isOfManifest
    ? `${id} stands in the manifest: only the rules of the store are put; leave it out, and change it there`
    : `${JSON.stringify(id)} is no \`id\` of a rule: 1 to 64 of A-Z a-z 0-9 _ -, with or without rule:store. before it`;
  return refusal('invalid_rules', why);
}
