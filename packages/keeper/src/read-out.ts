import type { Readable } from 'node:stream';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

/** So often more may come: who still talks then is not the process that has exited. */
const roundsMax = 10;

/**
 * Of a process that has exited: resolves when all that it wrote was read. A slow reader leaves it in the pipe and is waited
 * for; a pipe that something which got away holds open is given up when nothing has come of it for so long.
 */
export async function readOut(pipe: Readable, silentMs: number): Promise<void> {
  let heard = 0;
  const onData = (): void => {
    heard++;
  };
  const closed = new Promise<void>((resolve) => pipe.once('close', resolve));
  pipe.on('data', onData);
  for (let rounds = 0; !pipe.closed && rounds < roundsMax; ) {
    const before = heard;
    const wasRead = !pipe.isPaused();
    await Promise.race([closed, sleep(silentMs, undefined, { ref: false })]);
    // Perhaps it was us who were held up: what is there by now is read first.
    await turn();
    if (!wasRead || pipe.isPaused()) continue;
    if (heard === before) break;
    rounds++;
  }
  pipe.off('data', onData);
  pipe.destroy();
}
