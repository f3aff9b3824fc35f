// Started by tools/fuzz.mjs.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Campaign } from './campaign.ts';
import { type SubjectName, subjectNames } from './subjects.ts';

const options = {
  of: { type: 'string', multiple: true },
  count: { type: 'string', default: '100000' },
  seed: { type: 'string', default: '1' },
} as const;
const { values } = parseArgs({ options });
const count = Number(values.count);
const first = Number(values.seed);
const wanted = subjectNames.filter((name) => values.of === undefined || values.of.includes(name));
if (!(count > 0) || !(first >= 0) || wanted.length < (values.of ?? subjectNames).length) {
  console.error(`usage: npm run fuzz -- [--of ${subjectNames.join('|')}]… [--count N] [--seed S]`);
  process.exit(2);
}
const tellEvery = 20_000;
/** Longer than any input may take. */
const slowMs = 5_000;
const work = join(import.meta.dirname, '.work');
const found = join(import.meta.dirname, 'found');
mkdirSync(work, { recursive: true });
let stopped = false;
process.once('SIGINT', () => {
  stopped = true;
});
let failed = 0;
for (const name of wanted) failed += await hunt(name);
process.exit(failed === 0 ? 0 : 1);

/** Goes on where an earlier run of the same seed was stopped. */
async function hunt(name: SubjectName): Promise<number> {
  const place = join(work, `${name}-${first}.json`);
  let done = existsSync(place) ? Number(JSON.parse(readFileSync(place, 'utf8')).done) : 0;
  let findings = 0;
  const campaign = new Campaign(name);
  for (; done < count && !stopped; done++) {
    const began = performance.now();
    const input = campaign.make(first + done);
    const fault = await campaign.finding(first + done, input);
    const took = Math.round(performance.now() - began);
    const finding = fault ?? (took > slowMs ? { seed: first + done, input, error: `took ${took} ms` } : undefined);
    if (finding !== undefined) {
      findings += 1;
      mkdirSync(join(found, name), { recursive: true });
      writeFileSync(join(found, name, String(finding.seed)), finding.input);
      console.error(`${name}, seed ${finding.seed}: ${finding.error}`);
    }
    if ((done + 1) % tellEvery === 0) tell(done + 1);
  }
  tell(done);
  return findings;

  function tell(cases: number): void {
    writeFileSync(place, JSON.stringify({ done: cases }));
    console.log(`${name}: ${cases} of ${count} cases, ${findings} findings`);
  }
}
