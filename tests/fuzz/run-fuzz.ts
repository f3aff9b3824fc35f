// Started by tools/fuzz.mjs, once for each part of the cases.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Campaign } from './campaign.ts';
import { type SubjectName, subjectNames } from './subjects.ts';

const options = {
  of: { type: 'string', multiple: true },
  count: { type: 'string', default: '100000' },
  seed: { type: 'string', default: '1' },
  /** Which of how many: the cases are dealt out in turn. */
  part: { type: 'string', default: '0/1' },
} as const;
const { values } = parseArgs({ options });
const count = Number(values.count);
const first = Number(values.seed);
const [part = 0, parts = 1] = values.part.split('/').map(Number);
const wanted = subjectNames.filter((name) => values.of === undefined || values.of.includes(name));
if (!(count > 0) || !(first >= 0) || !(part < parts) || wanted.length < (values.of ?? subjectNames).length) {
  console.error(`usage: npm run fuzz -- [--of ${subjectNames.join('|')}]… [--count N] [--seed S] [--jobs J]`);
  process.exit(2);
}
const tellEvery = 10_000;
/** Longer than any input may take, in time of the processor: others may want it, too. */
const slowMs = 5_000;
const work = join(import.meta.dirname, '.work');
const found = join(import.meta.dirname, 'found');
mkdirSync(work, { recursive: true });
let stopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stopped = true;
  });
}
let failed = 0;
for (const name of wanted) failed += await hunt(name);
process.exit(failed === 0 ? 0 : 1);

/** Goes on where an earlier run of the same part was stopped. */
async function hunt(name: SubjectName): Promise<number> {
  const place = join(work, parts === 1 ? `${name}-${first}.json` : `${name}-${first}-${part}of${parts}.json`);
  const own = Math.ceil((count - part) / parts);
  let done = existsSync(place) ? Number(JSON.parse(readFileSync(place, 'utf8')).done) : 0;
  let findings = 0;
  const campaign = new Campaign(name);
  for (; done < own && !stopped; done++) {
    const seed = first + done * parts + part;
    const began = process.cpuUsage();
    const input = campaign.make(seed);
    const fault = await campaign.finding(seed, input);
    const { user, system } = process.cpuUsage(began);
    const took = Math.round((user + system) / 1_000);
    const finding = fault ?? (took > slowMs ? { seed, input, error: `took ${took} ms` } : undefined);
    if (finding !== undefined) {
      findings += 1;
      mkdirSync(join(found, name), { recursive: true });
      writeFileSync(join(found, name, String(finding.seed)), finding.input);
      console.error(`${name}, seed ${finding.seed}: ${finding.error}`);
    }
    if ((done + 1) % tellEvery === 0) tell(done + 1);
    // A signal is heard only then.
    if (done % 100 === 0) await nextTurn();
  }
  tell(done);
  return findings;

  function tell(cases: number): void {
    writeFileSync(place, JSON.stringify({ done: cases }));
    const whose = parts === 1 ? '' : `, part ${part + 1} of ${parts}`;
    console.log(`${name}: ${cases} of ${own} cases${whose}, ${findings} findings`);
  }
}
