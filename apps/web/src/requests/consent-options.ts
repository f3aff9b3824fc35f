import type { Json, JsonObject } from '@concerto/base';
import type { RequestOption, SuspendEvent } from '@concerto/protocol';
import { isJsonObject } from '../json/json-object.ts';

type ConsentEvent = Extract<SuspendEvent, { type: 'queryConsent' }>;

/** Yes and no stand for those of this once. */
const kinds = ['allow_once', 'reject_once', 'allow_always', 'reject_always'] as const;

/** What an agent lets a person choose beside a yes and a no for this once: its options that hold for longer. */
export function lastingOptions({ options, scope }: ConsentEvent): readonly RequestOption[] {
  return (options ?? scopeOptions(scope.options) ?? []).filter(({ kind }) => kind.endsWith('_always'));
}

/** The scope without its options, where buttons show them all. */
export function withoutOptions(scope: JsonObject): JsonObject {
  if (scopeOptions(scope.options) === undefined) return scope;
  const { options: _, ...rest } = scope;
  return rest;
}

/** As older logs have them. */
function scopeOptions(options: Json | undefined): readonly RequestOption[] | undefined {
  if (!Array.isArray(options)) return undefined;
  const known = options.flatMap((option: unknown): readonly RequestOption[] => {
    if (!isJsonObject(option)) return [];
    const { id, name, kind } = option;
    const known = kinds.find((candidate) => candidate === kind);
    return typeof id === 'string' && typeof name === 'string' && known !== undefined
      ? [{ id, label: name, kind: known }]
      : [];
  });
  return known.length === options.length ? known : undefined;
}
