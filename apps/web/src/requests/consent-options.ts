import type { JsonObject } from '@concerto/base';
import { isJsonObject } from '../json/json-object.ts';

type ConsentOption = { readonly id: string; readonly name: string };

/** What an agent lets a person choose beside a yes and a no for this once: its options that hold for longer. */
export function lastingOptions({ options }: JsonObject): readonly ConsentOption[] {
  if (!Array.isArray(options)) return [];
  return options.flatMap((option: unknown) => {
    if (!isJsonObject(option)) return [];
    const { id, name, kind } = option;
    if (typeof id !== 'string' || typeof name !== 'string') return [];
    if (kind !== 'allow_always' && kind !== 'reject_always') return [];
    return [{ id, name }];
  });
}
