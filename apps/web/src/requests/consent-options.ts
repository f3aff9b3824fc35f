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

/** Whether it names what it is about, so that the very same can be told apart from everything else. */
export function canBeKnownAgain({ consentType, scope, locations = [], changes = [] }: ConsentEvent): boolean {
  const { tool, command, paths, server } = scope;
  if (consentType !== 'approval' || typeof tool !== 'string') return false;
  if (typeof command === 'string' || typeof server === 'string') return true;
  return locations.length + changes.length > 0 || (Array.isArray(paths) && paths.length > 0);
}

/** What a rule that is made of it answers by itself from then on. */
export function rememberedText({ scope, locations = [], changes = [] }: ConsentEvent): string {
  const { tool, server, command } = scope;
  const named = Array.isArray(scope.paths) ? scope.paths : [];
  const paths = [...new Set([...named, ...[...locations, ...changes].map(({ path }) => path)])];
  const parts = [
    ...(typeof tool === 'string' ? [`tool = ${tool}`] : []),
    ...(typeof server === 'string' ? [`server = ${server}`] : []),
    ...(typeof command === 'string' ? [`command = ${command}`] : []),
    ...(typeof command !== 'string' && paths.length > 0 ? [`path = ${paths.join(' | ')}`] : []),
  ];
  return parts.join(', ');
}

/** Whether that is any call of the tool: nothing of it says what it is given. */
export function isAnyCall({ scope, locations = [], changes = [] }: ConsentEvent): boolean {
  const hasPaths = Array.isArray(scope.paths) && scope.paths.length > 0;
  return typeof scope.command !== 'string' && !hasPaths && locations.length + changes.length === 0;
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
