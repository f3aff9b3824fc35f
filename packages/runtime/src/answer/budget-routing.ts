import { hasPending, isBudgetRequest, openRequests, type Request, type SessionState } from '@concerto/session';
import type { Clock, Report } from '../ports.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { Tenure } from '../session/tenure.ts';
import type { Route } from './route-request.ts';

export type BudgetRoutingOptions = {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly tenure: Tenure;
  /** Undefined leaves it to people. */
  readonly route: Route | undefined;
  readonly report: Report;
};

/**
 * What an agent asks is routed as it is heard. That a budget is used up the session asks itself, in the middle of a decision:
 * its owner sees that nobody was asked yet, and puts it before the same answerers.
 */
export class BudgetRouting {
  readonly #options: BudgetRoutingOptions;
  readonly #routing = new Set<string>();

  constructor(options: BudgetRoutingOptions) {
    this.#options = options;
  }

  stands(state: SessionState): void {
    for (const request of openRequests(state)) {
      const { requestId, routedTo } = request;
      if (routedTo !== undefined || !isBudgetRequest(request) || this.#routing.has(requestId)) continue;
      this.#routing.add(requestId);
      void this.#route(request).catch((cause: unknown) => {
        // Whoever looks at the session next tries again; a person is asked all the while.
        this.#routing.delete(requestId);
        this.#options.report(`session ${state.id}: nobody but a person could be asked about its budget`, cause);
      });
    }
  }

  async #route({ requestId, event }: Request): Promise<void> {
    const { store, clock, tenure, route } = this.#options;
    const routing = (await route?.(event)) ?? {};
    if (tenure.over.aborted) return;
    const { session, runner, fence } = tenure;
    const asked = { at: clock.now(), actor: `runner:${runner}`, epoch: fence.epoch };
    await store.execute(session, { type: 'request-routing', requestId, routing, ...asked }, { fence });
  }
}

/** What it asks a person about its budget. Of an agent that nobody calls any more nobody needs to know. */
export function budgetAsked(state: SessionState): Request | undefined {
  if (state.budget === undefined) return undefined;
  const isWanted = state.parent === undefined || state.turn.active || hasPending(state.queue);
  if (!isWanted) return undefined;
  return openRequests(state).find((open) => isBudgetRequest(open) && open.routedTo === 'person');
}
