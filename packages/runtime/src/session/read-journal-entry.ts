import { assert } from '@concerto/base';
import type { Entry } from '@concerto/log';
import { AgentJournalEntry, readStored } from '@concerto/protocol';
import type { Message } from '../program/program-agent.ts';

type Spoken = {
  readonly type: 'message';
  readonly by?: string | undefined;
  readonly request?: string | undefined;
  readonly message: Message;
};
export type HeardEntry = Spoken | Exclude<AgentJournalEntry, { type: 'message' }>;

/** What stands in the journal of an agent. Its messages come in masses: the schema of the others would be most of their cost. */
export function readJournalEntry(entry: Entry): HeardEntry {
  // Its text is made when it is looked at.
  return readJournalValue(entry.value ?? JSON.parse(entry.data));
}

export function readJournalValue(stored: unknown): HeardEntry {
  if (isSpoken(stored)) return stored;
  const entry = readStored(AgentJournalEntry, stored);
  assert(entry.type !== 'message', 'a message that the schema takes is taken without it');
  return entry;
}

function isSpoken(stored: unknown): stored is Spoken {
  if (!has(stored, 'type') || stored.type !== 'message' || !has(stored, 'message')) return false;
  return isTextOrNone(stored, 'by') && isTextOrNone(stored, 'request') && hasType(stored.message);
}

function hasType(message: unknown): boolean {
  return has(message, 'type') && typeof message.type === 'string';
}

function has<Key extends string>(value: unknown, key: Key): value is Record<Key, unknown> {
  return typeof value === 'object' && value !== null && key in value;
}

function isTextOrNone(value: object, key: string): boolean {
  const text = has(value, key) ? value[key] : undefined;
  return text === undefined || typeof text === 'string';
}
