import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ofEveryProcess } from './every-process.ts';

test.runIf(process.platform === 'linux')('each process is looked at once, few at a time', async () => {
  const looked: string[] = [];
  let atOnce = 0;
  let most = 0;
  const found = await ofEveryProcess(async (pid) => {
    looked.push(pid);
    most = Math.max(most, ++atOnce);
    await turn();
    atOnce--;
    return pid === String(process.pid) ? 'me' : undefined;
  });
  expect(found).toEqual(['me']);
  expect(new Set(looked).size).toBe(looked.length);
  expect(most).toBeLessThanOrEqual(8);
});
