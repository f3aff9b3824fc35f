import { noUsage, usageAfter } from '@concerto/protocol';
import { isHeardOut } from '../narration.ts';
import { frameOf } from '../said.ts';
import type { AguiAbout, AguiFold, AguiRun } from './agui-fold.ts';
import { withCarried } from './agui-transcript.ts';

/** One client's run: of all that is said of the session, what is its own. */
export class AguiListener {
  /** A run ends where nothing follows, never before. */
  readonly isOver = false;
  readonly #run: AguiRun;
  /** What it waits for: messages that it sent. */
  readonly #said: readonly string[];
  readonly #carried: ReadonlySet<string>;
  #since = 0;
  #usage = noUsage;

  constructor(run: AguiRun, said: readonly string[]) {
    this.#run = run;
    this.#said = said;
    this.#carried = new Set(run.carried.map(({ id }) => id));
  }

  /** Everything that was, for a client that listens from here on. */
  begin(fold: AguiFold): string {
    this.#since = fold.narration.position;
    return fold.begin(this.#run).map(frameOf).join('');
  }

  hears({ user, usage, messages }: AguiAbout): boolean | string {
    if (usage !== undefined) this.#usage = usageAfter(this.#usage, usage);
    if (user !== undefined && this.#carried.has(user)) return false;
    if (messages === undefined || this.#carried.size === 0) return true;
    return frameOf({ type: 'MESSAGES_SNAPSHOT', messages: withCarried(messages, this.#run) });
  }

  /** Its last words, when there is nothing to wait for. */
  rest(fold: AguiFold): string | undefined {
    if (!isHeardOut(fold.narration, this.#said)) return undefined;
    return fold.finish(this.#run, { since: this.#since, usage: this.#usage }).map(frameOf).join('');
  }
}
