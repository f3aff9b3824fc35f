import { canonicalJson } from '@concerto/base';
import type { EventLog } from '@concerto/log';
import { isOverBudget, type SessionState, turnsOver } from '@concerto/session';
import type { OwnerWriter } from '../owner/owner-writer.ts';
import type { Clock } from '../ports.ts';
import type { SessionStore } from '../session/session-store.ts';

/** What children use is counted so long after they said something, all of it at once. */
const countAfterMs = 50;

export type ChildrenBudgetOptions = {
  readonly clock: Clock;
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly writer: OwnerWriter;
  readonly session: string;
  readonly epoch: number;
  /** Everything that the session itself said is on record. */
  readonly written: () => Promise<void>;
  /** The budget is used up: nothing more is begun. */
  readonly hold: () => void;
};

/** What a session's children use counts as its own: told as totals, so that nothing is counted twice. */
export class ChildrenBudget {
  readonly #options: ChildrenBudgetOptions;
  readonly #stop: () => void;
  #takeBack: (() => void) | undefined;
  #counting: Promise<void> = Promise.resolve();

  constructor(options: ChildrenBudgetOptions) {
    this.#options = options;
    const { clock, log, store, session } = options;
    this.#stop = log.onGrowth((grown) => {
      const own = store.known(session);
      if (own?.budget === undefined || !own.children.has(grown)) return;
      // A store that is away now is asked again at the next effect.
      this.#takeBack ??= clock.at(clock.now() + countAfterMs, () => void this.#count().catch(() => undefined));
    });
  }

  close(): void {
    this.#stop();
    this.#takeBack?.();
  }

  /** Before each effect: whatever was used so far is counted, and one that is over begins nothing. Undefined without a budget. */
  settle(): Promise<void> | undefined {
    const { store, session } = this.#options;
    return store.known(session)?.budget === undefined ? undefined : this.#settle();
  }

  async #settle(): Promise<void> {
    const { store, session, written, hold } = this.#options;
    await written();
    await this.#count();
    const own = store.known(session);
    if (own !== undefined && isOverBudget(own)) hold();
  }

  async #count(): Promise<void> {
    this.#takeBack?.();
    this.#takeBack = undefined;
    this.#counting = this.#counting.catch(() => undefined).then(() => this.#countChildren());
    await this.#counting;
  }

  async #countChildren(): Promise<void> {
    const { store, writer, session, epoch } = this.#options;
    const own = await store.state(session);
    for (const child of own?.children ?? []) {
      const state = await store.state(child);
      const used = state === undefined ? undefined : usedBy(state);
      const known = own?.budget?.children.get(child);
      if (used === undefined || own?.budget === undefined) continue;
      const isSame = known !== undefined && canonicalJson({ ...known }) === canonicalJson({ ...used });
      if (!isSame) await writer.tell({ type: 'child-used', epoch, child, ...used });
    }
  }
}

function usedBy(state: SessionState) {
  const { usage, isEstimate } = state;
  return { usage, turns: turnsOver(state), ...(isEstimate === true ? { isEstimate } : {}) };
}
