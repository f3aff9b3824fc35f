// 100,000 lines as fast as the pipe takes them.
import { once } from 'node:events';

for (let n = 0; n < 100_000; n++) {
  if (!process.stdout.write(`${JSON.stringify({ type: 'progress', message: 'x'.repeat(80), percent: n % 100, n })}\n`))
    await once(process.stdout, 'drain');
}
console.log(JSON.stringify({ type: 'result', text: 'done' }));
