// Started by tools/fuzz.mjs.
import { parseArgs } from 'node:util';
import { fuzz } from './fuzz.ts';

const BATCH = 1000;

const { values } = parseArgs({
  options: { count: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
});
const count = Number(values.count);
const first = Number(values.seed);
let failed = 0;
for (let done = 0; done < count; done += BATCH) {
  const failures = fuzz({ seed: first + done, count: Math.min(BATCH, count - done) });
  for (const { seed, error, text } of failures) {
    console.error(`seed ${seed}: ${error}\n${text.slice(0, 2000)}\n`);
  }
  failed += failures.length;
  console.log(`${Math.min(done + BATCH, count)} of ${count} cases, ${failed} failed`);
}
process.exit(failed === 0 ? 0 : 1);
