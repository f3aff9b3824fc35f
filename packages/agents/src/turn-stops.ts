import type { EndOptions } from '@concerto/keeper';
import type { AgentVerb } from './agent-connection.ts';
import { AgentError } from './agent-error.ts';
import type { AgentLink } from './agent-link.ts';
import { said } from './driver-output.ts';

/** For an agent to stop a turn that broke the session's rules, or that is cancelled; then it is ended. */
const stopWithinMs = 2_000;

type Stop = { readonly verb: 'interrupt' | 'cancel'; readonly id: string };

/** Why a turn is being stopped: somebody asked for it, or it broke the session's rules. */
export class TurnStops {
  readonly #link: AgentLink;
  #asked: Stop[] = [];
  #broken: string | undefined;

  constructor(link: AgentLink) {
    this.#link = link;
  }

  /** No more of the turn is wanted. */
  get isStopping(): boolean {
    return this.#asked.length > 0 || this.#broken !== undefined;
  }

  /** Somebody waits for the stop. */
  get isAsked(): boolean {
    return this.#asked.length > 0;
  }

  /** What the session's rules were broken with. */
  get broken(): string | undefined {
    return this.#broken;
  }

  ask(verb: AgentVerb, id: string): void {
    if (verb !== 'interrupt' && verb !== 'cancel') {
      const message = `agent "${this.#link.spec.name}" has not announced that it can ${verb}`;
      throw new AgentError('not-announced', message);
    }
    this.#asked.push({ verb, id });
    // It is ended all the same: one that does not listen is confirmed to be gone.
    if (verb === 'cancel') this.#link.later(stopWithinMs, () => this.confirm({ atWork: true }));
  }

  /** `isStopped` is asked when its time is over. */
  breakRules(reason: string, isStopped: () => boolean): void {
    this.#broken ??= reason;
    this.#link.later(stopWithinMs, () => {
      if (!isStopped()) void this.#link.end({ atWork: true });
    });
  }

  /** The turn has ended. */
  turnEnded(): void {
    this.#broken = undefined;
  }

  /** Tells whoever asked that it has stopped; one that was cancelled is ended. */
  confirm(how: EndOptions = {}): void {
    for (const { verb, id } of this.#asked.splice(0)) {
      this.#link.say(said({ type: 'ack', in_reply_to: verb, in_reply_to_id: id }));
      // Nothing more is asked of it, and it may not look for the end by itself.
      if (verb === 'cancel') void this.#link.end(how);
    }
  }
}
