// `npm run chaos -- --store sqlite|redis [--faults N] [--seed S]`: real processes, faults at random, people and readers
// that check; ends with a verdict. `npm run soak -- [--faults 500] [--agents 20]`: only kills of our own processes,
// which nothing may survive as lost, doubled, uncertain or orphaned.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { Faults } from './chaos/faults.mjs';
import { Oracle } from './chaos/oracle.mjs';
import { Random } from './chaos/random.mjs';
import { Readers } from './chaos/readers.mjs';
import { People } from './chaos/wishes.mjs';
import { World } from './chaos/world.mjs';
import { install } from './install.mjs';

const options = {
  store: { type: 'string', default: 'sqlite' },
  faults: { type: 'string' },
  seed: { type: 'string' },
  agents: { type: 'string' },
  soak: { type: 'boolean', default: false },
  built: { type: 'boolean', default: false },
};
const { values } = parseArgs({ options });
const store = String(values.store);
const soaks = values.soak;
const wanted = Number(values.faults ?? (soaks ? 500 : 200));
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const agents = Number(values.agents ?? (soaks ? 20 : 8));
if (!['sqlite', 'redis'].includes(store) || !(wanted > 0) || !(seed >= 0) || !(agents > 0)) {
  console.error('usage: npm run chaos -- --store sqlite|redis [--faults N] [--seed S] [--agents N]');
  process.exit(2);
}
if (!values.built) {
  install();
  await build();
}

/** How many are answered between two faults, at most, and how long it then still waits. */
const wishesBetween = soaks ? 60 : 20;
const longestBetweenMs = 200;
/** How many are answered between a verdict and a store that is put back: they may be lost by it. */
const wishesBeforeRewind = 60;
/** Then it is looked at whether there is a server at all. */
const answeredWithinMs = 20_000;

const random = new Random(seed);
const folder = mkdtempSync(join(tmpdir(), 'concerto-chaos-'));
const name = soaks ? 'soak' : 'chaos';
const world = new World({ folder, store, slots: agents, steady: soaks });
const rewound = new Set();
process.once('exit', () => world.abandon());
await world.start();
const most = soaks ? agents : undefined;
const people = new People({ url: world.url, token: world.token, random, calm: soaks, most, rewound });
const readers = new Readers({ world, people, random, rewound });
const faults = new Faults({
  world,
  random,
  killsOnly: soaks,
  // Of what was put back not everything can be asked: so it is asked before.
  beforeRewind: async () => {
    await judge();
    people.release();
    await wishes(wishesBeforeRewind);
  },
  rewind: () => people.rewind(),
});
const oracle = new Oracle({ world, people, readers, rewound, strict: soaks });
let drawn = 0;
let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    isStopped = true;
  });
}
const goesOn = () => drawn < wanted && !isStopped;

console.log(`${name}: ${wanted} faults on ${store}, seed ${seed}, in ${folder}`);
const lives = Array.from({ length: 4 }, () => people.live(goesOn));
const follows = Array.from({ length: 3 }, () => readers.follow(goesOn));
await Promise.all([trouble(), ...lives, ...follows]);
console.log(`${name}: calm; everything must settle now`);
await faults.over();
await judge();
const violations = [...oracle.violations, ...people.violations, ...readers.violations, ...faults.violations];
await world.stop();
const verdict = report();
console.log(verdict);
// Whoever only sees that it failed finds here why.
writeFileSync(join(folder, 'verdict.txt'), `${verdict}\n`);
if (violations.length === 0) rmSync(folder, { recursive: true, force: true });
process.exit(violations.length === 0 ? 0 : 1);

async function trouble() {
  // There must be something to disturb.
  while (people.sessions.length < Math.min(4, agents)) await sleep(100);
  for (; goesOn(); drawn++) {
    // There must be something to lose; but it must come through a fault while it comes up, too.
    if (random.chance(0.85)) await wishes(random.between(1, wishesBetween));
    await sleep(random.between(0, longestBetweenMs));
    await faults.next();
    if ((drawn + 1) % 10 === 0) {
      const { sessions, asked, repeated } = people;
      console.log(
        `${name}: ${drawn + 1} faults, ${sessions.length} sessions, ${asked} calls, ${repeated} repeated, ${readers.read} events read`,
      );
    }
  }
}

/** Until so many more were answered. */
async function wishes(more) {
  const enough = people.answered + more;
  const until = Date.now() + answeredWithinMs;
  while (people.answered < enough && !isStopped) {
    if (Date.now() > until) return await ready();
    await sleep(10);
  }
}

/** One that never comes up again is what we look for. */
async function ready() {
  await world.untilReady().catch((cause) => {
    faults.violations.push(cause.message);
    isStopped = true;
  });
}

/** When nothing is wrong any more, all sessions since the last verdict must be as they should. */
async function judge() {
  faults.calm();
  await ready();
  await people.hold();
  try {
    await oracle.judge(people.unjudged);
  } catch (cause) {
    oracle.violations.push(`the verdict could not be reached: ${cause.stack}`);
  }
  // Whoever looks for the cause wants it as it is.
  if (oracle.violations.length > 0) isStopped = true;
}

function report() {
  const counted = (map) => [...map].map(([what, times]) => `${what} ${times}`).join(', ') || 'none';
  const { sessions, acknowledged, repeated, replayed, refusals } = people;
  const end = violations.length === 0 ? 'no violation' : `${violations.length} violations; kept ${folder}`;
  return [
    `faults ${drawn}: ${counted(faults.counts)}`,
    `sessions ${sessions.length} (${oracle.excused} in a store that was put back), acknowledged wishes ${acknowledged.length}, repeated ${repeated}, replayed ${replayed}`,
    `events read ${readers.read}, lines of agents compared ${oracle.lines}`,
    `messages: uncertain ${oracle.uncertain}, written to an agent that was gone ${oracle.unread}`,
    `refusals: ${counted(refusals)}`,
    ...violations.map((violation) => `VIOLATION ${violation}`),
    `${name}: seed ${seed}, ${drawn} faults: ${end}`,
  ].join('\n');
}
