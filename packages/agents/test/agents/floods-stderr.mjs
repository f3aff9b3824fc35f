// More on stderr than any pipe holds, then the result.
import { once } from 'node:events';

for (let n = 0; n < 5_000; n++) {
  if (!process.stderr.write(`warning ${n} ${'y'.repeat(1000)}\n`)) await once(process.stderr, 'drain');
}
process.stderr.write(`the key is ${process.env.API_KEY}\nlast words\n`);
console.log(JSON.stringify({ type: 'result', text: 'done' }));
