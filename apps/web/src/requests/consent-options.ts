import type { Json, JsonObject } from '@concerto/base';
import { isJsonObject } from '../json/json-object.ts';

type ConsentOption = { readonly id: string; readonly name: string; readonly kind: string };

/** Yes and no stand for those of this once. */
const kinds = ['allow_once', 'reject_once', 'allow_always', 'reject_always'];

/** What an agent lets a person choose beside a yes and a no for this once: its options that hold for longer. */
export function lastingOptions({ options }: JsonObject): readonly ConsentOption[] {
  return (knownOptions(options) ?? []).filter(({ kind }) => kind.endsWith('_always'));
}

/** The scope without its options, where buttons show them all. */
export function withoutOptions(scope: JsonObject): JsonObject {
  if (knownOptions(scope.options) === undefined) return scope;
  const { options: _, ...rest } = scope;
  return rest;
}

function knownOptions(options: Json | undefined): readonly ConsentOption[] | undefined {
  if (!Array.isArray(options)) return undefined;
  const known = options.flatMap((option: unknown) => {
    if (!isJsonObject(option)) return [];
    const { id, name, kind } = option;
    if (typeof id !== 'string' || typeof name !== 'string' || typeof kind !== 'string') return [];
    return kinds.includes(kind) ? [{ id, name, kind }] : [];
  });
  return known.length === options.length ? known : undefined;
}
