import type { ProcessIdentity } from '@concerto/agents';
import type { ProcessNote, ProcessRegister } from './process-register.ts';
import { type Patience, withPatience } from './store-patience.ts';

/**
 * An owner's notes of its own processes, in order: an old process that is forgotten slowly must not take the note of
 * the next one with it.
 */
export class OwnProcessNotes {
  readonly #register: Pick<ProcessRegister, 'remember' | 'forget'>;
  readonly #note: ProcessNote;
  readonly #patience: Patience;
  #last: Promise<void> = Promise.resolve();

  constructor(register: Pick<ProcessRegister, 'remember' | 'forget'>, note: ProcessNote, patience: Patience) {
    this.#register = register;
    this.#note = note;
    this.#patience = patience;
  }

  async remember(identity: ProcessIdentity): Promise<void> {
    await this.#inOrder(() => this.#register.remember(this.#note, identity));
  }

  async forget(): Promise<void> {
    await this.#inOrder(() => this.#register.forget(this.#note));
  }

  async #inOrder(work: () => Promise<void>): Promise<void> {
    const noted = this.#last.then(() => withPatience(work, this.#patience));
    this.#last = noted.catch(() => undefined);
    await noted;
  }
}
