import { expect, test } from 'vitest';
import { ReadingPace } from './reading-pace.ts';

test('whoever writes waits while too much is unread, and goes on when some of it was read', async () => {
  const pace = new ReadingPace(10, undefined);
  expect(pace.room(9)).toBeUndefined();
  const room = pace.room(10);
  expect(room).toBeInstanceOf(Promise);
  await pace.read(1);
  await room;
  expect(pace.room(10)).toBeUndefined();
  expect(pace.room(11)).toBeInstanceOf(Promise);
});

test('what is read once more is not unread', async () => {
  const pace = new ReadingPace(10, undefined);
  await pace.read(5);
  await pace.read(0);
  expect(pace.room(14)).toBeUndefined();
});

test('nobody waits for one that reads no more', async () => {
  const pace = new ReadingPace(10, undefined);
  const room = pace.room(100);
  pace.close();
  await room;
  expect(pace.room(1_000)).toBeUndefined();
});

test('what will not be read again is forgotten, much at a time', async () => {
  const forgotten: number[] = [];
  const pace = new ReadingPace(10, async (through) => void forgotten.push(through));
  for (let position = 1; position <= 1_100; position++) await pace.read(position);
  expect(forgotten).toEqual([512, 1_024]);
});
