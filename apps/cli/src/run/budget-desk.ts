import type { Json } from '@concerto/base';
import type { SuspendEvent } from '@concerto/protocol';
import { budgetAsked, type SessionStore } from '@concerto/runtime';
import { tell } from '../terminal/print.ts';
import type { NextAnswer } from './input-answers.ts';

type Asked = { readonly session: string; readonly requestId: string };

/** What a session asks itself, and no program. */
export function isBudget(event: SuspendEvent): boolean {
  return event.type === 'queryConsent' && event.consentType === 'budget';
}

export type BudgetDeskOptions = {
  readonly store: SessionStore;
  /** The session of the run; those below it may have budgets of their own. */
  readonly root: string;
  /** Whoever sits at the terminal. */
  readonly person: NextAnswer | undefined;
  /** Gives why an answer is none. */
  readonly give: (asked: Asked, response: Json) => Promise<string | undefined>;
};

/** Whoever sits at the terminal says whether a session may use more than its budget; where nobody does, it stops. */
export class BudgetDesk {
  readonly #options: BudgetDeskOptions;
  #isClosed = false;
  /** What is asked for each session that asks. */
  readonly #asked = new Map<string, { readonly requestId: string; readonly over: AbortController }>();

  constructor(options: BudgetDeskOptions) {
    this.#options = options;
    const { store, root } = options;
    // Whoever owns a session decides that it asks; in this process that is the run.
    store.onDecision((session, { state }) => {
      if (this.#isClosed || (session !== root && state.root !== root)) return;
      const asked = budgetAsked(state);
      const whose = session === root ? '' : `${state.agent}: `;
      this.#look(session, asked && { requestId: asked.requestId, text: `${whose}${descriptionOf(asked.event)}` });
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const { over } of this.#asked.values()) over.abort();
    this.#asked.clear();
  }

  #look(session: string, request: { readonly requestId: string; readonly text: string } | undefined): void {
    const known = this.#asked.get(session);
    if (request?.requestId === known?.requestId) return;
    known?.over.abort();
    this.#asked.delete(session);
    if (request === undefined) return;
    const { requestId, text } = request;
    const over = new AbortController();
    this.#asked.set(session, { requestId, over });
    void this.#ask({ session, requestId }, text, over.signal);
  }

  async #ask(asked: Asked, description: string, signal: AbortSignal): Promise<void> {
    const person: NextAnswer =
      this.#options.person ??
      (async (_signal, show) => {
        show();
        return 'stop';
      });
    try {
      for (let why: string | undefined = description; why !== undefined && !signal.aborted; ) {
        const shown = why;
        const response = await person(signal, () => tell(`${shown}\n`));
        why = await this.#options.give(asked, response ?? 'stop');
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
