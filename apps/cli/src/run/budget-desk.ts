import type { Json } from '@concerto/base';
import type { OpenRequest, SuspendEvent } from '@concerto/protocol';
import { tell } from '../terminal/print.ts';
import type { NextAnswer } from './input-answers.ts';

type Asked = { readonly requestId: string; readonly over: AbortController };

/** What a session asks itself, and no program. */
export function isBudget(event: SuspendEvent): boolean {
  return event.type === 'queryConsent' && event.consentType === 'budget';
}

/** Whoever sits at the terminal says whether a session may use more than its budget; where nobody does, it stops. */
export class BudgetDesk {
  readonly #person: NextAnswer | undefined;
  /** Gives why an answer is none. */
  readonly #give: (requestId: string, response: Json) => Promise<string | undefined>;
  #asked: Asked | undefined;

  constructor(
    person: NextAnswer | undefined,
    give: (requestId: string, response: Json) => Promise<string | undefined>,
  ) {
    this.#person = person;
    this.#give = give;
  }

  look(open: readonly OpenRequest[]): void {
    const request = open.find(({ event, routedTo }) => isBudget(event) && routedTo === 'person');
    if (request?.requestId === this.#asked?.requestId) return;
    this.close();
    if (request === undefined) return;
    const { requestId, event } = request;
    this.#asked = { requestId, over: new AbortController() };
    void this.#ask(this.#asked, descriptionOf(event));
  }

  close(): void {
    this.#asked?.over.abort();
    this.#asked = undefined;
  }

  async #ask({ requestId, over: { signal } }: Asked, description: string): Promise<void> {
    const person: NextAnswer =
      this.#person ??
      (async (_signal, show) => {
        show();
        return 'stop';
      });
    try {
      for (let why: string | undefined = description; why !== undefined && !signal.aborted; ) {
        const shown = why;
        const response = await person(signal, () => tell(`${shown}\n`));
        why = await this.#give(requestId, response ?? 'stop');
      }
    } catch (cause) {
      // Somebody else has answered, or the run is over.
      if (!signal.aborted) tell(`error: ${String(cause)}\n`);
    }
  }
}

function descriptionOf(event: SuspendEvent): string {
  const { description } = event.type === 'queryConsent' ? event.scope : {};
  return typeof description === 'string' ? description : 'The budget is used up. More, or stop?';
}
