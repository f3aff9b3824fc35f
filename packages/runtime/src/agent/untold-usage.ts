import { textOf, type WorkEvent } from '@concerto/protocol';
import type { Untold } from '@concerto/session';
import type { CatalogEntry } from '../catalog.ts';

/** What can be read along of a turn, for an agent that tells nothing of what it uses. */
export class UntoldUsage {
  #given = 0;
  #said = 0;

  get sum(): Untold {
    return { given: this.#given, said: this.#said };
  }

  read(events: readonly WorkEvent[]): void {
    for (const event of events) {
      if (event.type === 'content') this.#said += textOf(event.content).length;
      else if (event.type === 'thought') this.#said += event.text.length;
      else if (event.type === 'functionCall' && event.isTurn !== true) this.#said += JSON.stringify(event.args).length;
      else if (event.type === 'functionResult') this.#given += JSON.stringify(event.content).length;
    }
  }
}

/** Claude and Codex always tell, if need be after the turn; models and programs are counted where they are asked. */
export function mayTellNothing(entry: CatalogEntry): boolean {
  if (entry.kind !== 'agent') return false;
  const { protocol = 'ndjson' } = entry.spec;
  return protocol === 'ndjson' || protocol === 'acp';
}
