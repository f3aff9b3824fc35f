import { readStored, StoredRule } from '@concerto/protocol';
import * as z from 'zod';

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
