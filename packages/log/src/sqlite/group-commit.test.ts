import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { groupCommit } from './group-commit.ts';

/** A store of groups, whose clock stands still until it is told otherwise. */
function storeOfGroups() {
  const groups: string[][] = [];
  let group: string[] = [];
  let now = 0;
  const transactions = {
    commit: () => void groups.push(group.splice(0)),
    rollback: () => {
      group = [];
    },
  };
  const failures = { isHeld: () => false, of: () => expect.fail('nothing fails here') };
  const writes = groupCommit(transactions, failures, () => now);
  return {
    groups,
    write: (name: string) => writes.run(() => void group.push(name)),
    later: (ms: number) => {
      now += ms;
    },
  };
}

describe('a group', () => {
  test('is committed at once after a quiet moment, with what was asked for in the same breath', async () => {
    const { groups, write, later } = storeOfGroups();
    let isNextTurn = false;
    setImmediate(() => {
      isNextTurn = true;
    });
    await Promise.all([write('a'), write('b')]);
    expect(groups).toEqual([['a', 'b']]);
    later(1_000);
    await write('c');
    expect(groups).toEqual([['a', 'b'], ['c']]);
    expect(isNextTurn, 'before the turn goes on').toBe(false);
  });

  test('holds what comes in one turn of the loop while others write', async () => {
    const { groups, write } = storeOfGroups();
    await write('a');
    const first = write('b');
    await Promise.resolve();
    await Promise.all([first, write('c')]);
    expect(groups).toEqual([['a'], ['b', 'c']]);
    await turn();
  });
});
