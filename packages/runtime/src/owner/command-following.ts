import { type EventLog, follow } from '@concerto/log';
import { RunnerCommand, readStored } from '@concerto/protocol';
import type { Clock } from '../ports.ts';
import { mayPass, pause, storePatienceMs } from '../session/store-patience.ts';
import type { Tenure } from '../session/tenure.ts';

/** Between two tries to read what is to be done. */
const followAgainMs = 500;

export type CommandFollower = {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly tenure: Tenure;
  /** Never rejects. */
  readonly obey: (command: RunnerCommand) => Promise<void>;
  /** Whatever was there has been obeyed. */
  readonly caughtUp: () => Promise<void>;
};

/**
 * Every command after a position, once each and in order, while the session is ours. A store that cannot be read for a moment
 * costs nothing. What this process decided itself is not read back: `decided` obeys it at once, if all before it is known.
 */
export class CommandFollowing {
  readonly #follower: CommandFollower;
  /** The last command that was obeyed or is about to be; undefined before the following begins. */
  #after: number | undefined;
  #last: Promise<void> = Promise.resolve();
  /** Commands that are being obeyed, or wait for it. */
  #open = 0;

  constructor(follower: CommandFollower) {
    this.#follower = follower;
  }

  async run(after: number): Promise<void> {
    const { clock, tenure } = this.#follower;
    this.#after = after;
    for (let failingSince = 0, failedAt = 0; !tenure.isOver; ) {
      try {
        await this.#readOn(this.#after);
      } catch (cause) {
        const now = clock.elapsed();
        if (now - failedAt > followAgainMs * 2) failingSince = now;
        failedAt = now;
        if (!mayPass(cause) || now - failingSince > storePatienceMs) throw cause;
        await pause(clock, followAgainMs);
      }
    }
  }

  /** `head` is the position of the last of them. */
  decided(commands: readonly RunnerCommand[], head: number): void {
    if (head - commands.length !== this.#after) return;
    this.#after = head;
    for (const command of commands) this.#obeyNext(command);
  }

  async #readOn(after: number): Promise<void> {
    const { log, tenure, caughtUp } = this.#follower;
    const { session, over: signal } = tenure;
    // Also after a failure, which may have hidden what others decided.
    await caughtUp();
    const known = (): number => this.#after ?? 0;
    for await (const page of follow(log, { session, stream: 'commands', after, known, signal })) {
      for (const { position, data } of page.entries) {
        if (position <= (this.#after ?? 0)) continue;
        this.#after = position;
        this.#obeyNext(readStored(RunnerCommand, JSON.parse(data)));
      }
      await this.#last;
      await caughtUp();
    }
  }

  #obeyNext(command: RunnerCommand): void {
    const { obey, tenure } = this.#follower;
    const next = async (): Promise<void> => {
      if (!tenure.isOver) await obey(command);
    };
    // In the moment in which it is decided, where nothing is before it: an agent waits for it, everybody else can wait.
    const obeyed = this.#open++ === 0 ? next() : this.#last.then(next);
    this.#last = obeyed.then(() => {
      this.#open--;
    });
  }
}
