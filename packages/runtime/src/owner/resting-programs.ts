import { onlyWaits, type SessionState } from '@concerto/session';
import type { SessionStore } from '../session/session-store.ts';

/**
 * Programs that were put away because their agents only wait: for people, or for what the program itself asks people. What brings one back is that an agent does not any
 * more, which its own session tells: nothing is written for it, so nothing of it can be lost with whoever wrote it.
 */
export class RestingPrograms {
  readonly #store: SessionStore;
  readonly #bringBack: (program: string) => Promise<void>;
  /** Sessions here that only waited when we last looked. */
  readonly #waiting = new Set<string>();

  constructor(store: SessionStore, bringBack: (program: string) => Promise<void>) {
    this.#store = store;
    this.#bringBack = bringBack;
  }

  /** An agent that is owned here stands so now. */
  async childStands(child: SessionState): Promise<void> {
    if (child.parent === undefined || child.code === undefined) return;
    if (onlyWaits(child)) this.#waiting.add(child.id);
    else if (this.#waiting.delete(child.id)) await this.#goesOn(child.id, child.parent);
  }

  /** One that was just looked at, for the first time perhaps: whoever owned it may have been killed before its program was called. */
  async childFound(child: SessionState): Promise<void> {
    if (child.parent === undefined || child.code === undefined || onlyWaits(child)) return;
    await this.#goesOn(child.id, child.parent);
  }

  async #goesOn(child: string, program: string): Promise<void> {
    const state = await this.#store.state(program);
    if (state?.rests?.on?.includes(child) === true) await this.#bringBack(program);
  }

  /** Whether one of those that it waits on goes on. */
  async isCalled({ rests }: SessionState): Promise<boolean> {
    for (const id of rests?.on ?? []) {
      const child = await this.#store.state(id);
      if (child === undefined || !onlyWaits(child)) return true;
    }
    return false;
  }
}
