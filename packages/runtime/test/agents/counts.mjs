// Counts to the number it is given, a line every 10 ms, and is done.
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const say = (message) => console.log(JSON.stringify(message));
for await (const line of createInterface({ input: process.stdin })) {
  const count = Number(JSON.parse(line).text);
  for (let n = 1; n <= count; n++) {
    say({ type: 'progress', message: String(n) });
    await sleep(10);
  }
  say({ type: 'result', text: 'done' });
}
