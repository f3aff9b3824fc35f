import { expect, test } from 'vitest';
import { MessageQueue } from './message-queue.ts';

test('what was said is read when the reader has done with it, not before', async () => {
  const queue = new MessageQueue<number>();
  const seen: number[] = [];
  let isReading = false;
  let finishBatch: () => void = () => {};
  const reading = (async () => {
    for await (const batch of queue) {
      await new Promise<void>((resolve) => {
        isReading = true;
        finishBatch = resolve;
      });
      seen.push(...batch);
    }
  })();
  queue.push(1);
  queue.push(2);
  let isRead = false;
  const read = queue.read().then(() => {
    isRead = true;
  });
  await expect.poll(() => isReading).toBe(true);
  expect(isRead).toBe(false);
  finishBatch();
  await read;
  expect(seen).toEqual([1, 2]);
  queue.end();
  await reading;
  await queue.read();
});

test('nobody waits for a reader that has gone', async () => {
  const queue = new MessageQueue<number>();
  queue.push(1);
  for await (const batch of queue) {
    expect(batch).toEqual([1]);
    break;
  }
  queue.push(2);
  await queue.read();
});
