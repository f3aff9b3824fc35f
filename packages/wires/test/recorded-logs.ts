import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FoldedEvent, readStoredEvent } from '@concerto/protocol';

const folder = join(import.meta.dirname, 'logs');

export type RecordedLog = { readonly name: string; readonly events: readonly FoldedEvent[] };

/** What real sessions left in their logs: the recorded wires of real agents, and agents that do everything there is. */
export const recordedLogs: readonly RecordedLog[] = readdirSync(folder).map((file) => ({
  name: file.replace('.jsonl', ''),
  events: readFileSync(join(folder, file), 'utf8')
    .split('\n')
    .filter(Boolean)
    .flatMap((line) => readStoredEvent(line) ?? []),
}));
