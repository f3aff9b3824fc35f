import { assert } from '@concerto/base';
import { LogError, MAX_ENTRY_LENGTH, type NewEntry } from './event-log.ts';

/** Puts the position into the text of a JSON object: `{...}` becomes `{...,"seq":N}`, `{}` becomes `{"seq":N}`. */
export function stampSeq(data: string, position: number): string {
  const end = data.lastIndexOf('}');
  const body = data.slice(0, end);
  // Only an empty object has its opening brace directly before its closing one.
  const separator = body.trimEnd().endsWith('{') && body.trim().length === 1 ? '' : ',';
  return `${body}${separator}"seq":${position}}`;
}

/** Refuses what no store may take before any store has to. */
export function checkEntry(entry: NewEntry): void {
  if (entry.type.length + entry.data.length > MAX_ENTRY_LENGTH) {
    throw new LogError(
      'too-large',
      `an entry of type "${entry.type.slice(0, 64)}" has ${entry.data.length} characters; the limit is ${MAX_ENTRY_LENGTH}`,
    );
  }
  assert(/^\s*\{/.test(entry.data) && /\}\s*$/.test(entry.data.slice(-16)), 'an entry is the text of a JSON object');
}
