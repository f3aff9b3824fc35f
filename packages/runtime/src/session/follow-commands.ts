import { type EventLog, follow } from '@concerto/log';
import { RunnerCommand } from '@concerto/protocol';
import type { Clock } from '../ports.ts';
import { mayPass, pause, storePatienceMs } from './store-patience.ts';

/** Between two tries to read what is to be done. */
const followAgainMs = 500;

export type CommandFollower = {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly session: string;
  readonly signal: AbortSignal;
  readonly obey: (command: RunnerCommand) => Promise<void>;
  /** Whatever was there has been obeyed. */
  readonly caughtUp: () => Promise<void>;
};

/** Every command after the position, once each, until the signal. A store that cannot be read for a moment costs nothing. */
export async function followCommands(follower: CommandFollower, after: number): Promise<void> {
  const { clock, signal } = follower;
  const cursor = { after };
  for (let failingSince = 0, failedAt = 0; !signal.aborted; ) {
    try {
      await obeyAll(follower, cursor);
    } catch (cause) {
      const now = clock.now();
      if (now - failedAt > followAgainMs * 2) failingSince = now;
      failedAt = now;
      if (!mayPass(cause) || now - failingSince > storePatienceMs) throw cause;
      await pause(clock, followAgainMs);
    }
  }
}

async function obeyAll(follower: CommandFollower, cursor: { after: number }): Promise<void> {
  const { log, session, signal, obey, caughtUp } = follower;
  for await (const page of follow(log, { session, stream: 'commands', after: cursor.after, signal })) {
    for (const entry of page.entries) {
      if (signal.aborted) return;
      cursor.after = entry.position;
      await obey(RunnerCommand.parse(JSON.parse(entry.data)));
    }
    await caughtUp();
  }
}
