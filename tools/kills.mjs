// `npm run kills -- --store sqlite|redis [--kills 200] [--seed S] [--at-once 4]`: programs with two agents, a model, a
// question and a sleep, while server and runners are killed with -9 at random moments; each must end as if nothing had been.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { build } from './build.mjs';
import { Random } from './chaos/random.mjs';
import { People } from './chaos/wishes.mjs';
import { install } from './install.mjs';
import { Judge } from './kills/judge.mjs';
import { KilledWorld } from './kills/world.mjs';

/** One that is killed before it comes to anything, on a slow machine, is left alone after this time: it must end then. */
const starvedAfterMs = 60_000;
const endsWithinMs = 180_000;
const agentsGoneWithinMs = 30_000;
/** A runner that is killed holds what it owned for so long. */
const longestBetweenMs = { sqlite: 2_500, redis: 4_000 };

const options = {
  store: { type: 'string', default: 'sqlite' },
  kills: { type: 'string', default: '200' },
  seed: { type: 'string' },
  'at-once': { type: 'string', default: '4' },
  built: { type: 'boolean', default: false },
};
const { values } = parseArgs({ options });
const store = String(values.store);
const wanted = Number(values.kills);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const atOnce = Number(values['at-once']);
if (!['sqlite', 'redis'].includes(store) || !(wanted > 0) || !(seed >= 0) || !(atOnce > 0)) {
  console.error('usage: npm run kills -- --store sqlite|redis [--kills N] [--seed S] [--at-once N]');
  process.exit(2);
}
if (!values.built) {
  install();
  await build();
}
const { startScriptedModelServer } = await import('@concerto/models/testing');

const random = new Random(seed);
const folder = mkdtempSync(join(tmpdir(), 'concerto-kills-'));
const asked = [];
const model = await startScriptedModelServer(({ body }) => {
  asked.push(String(body.messages?.at(-1)?.content ?? ''));
  return `answer ${asked.length - 1}`;
});
const world = new KilledWorld({ folder, store, model: model.url });
process.once('exit', () => world.abandon());
await world.start();
const people = new People({ url: world.url, token: world.token, random });
const call = (...words) => people.call(...words);
const judge = new Judge({ call, asked, heard: world.heard });
const counts = new Map();
/** Programs on their way, and since when. */
const open = new Map();
let kills = 0;
/** Programs that a kill met on their way. */
let met = 0;
let started = 0;
let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    isStopped = true;
  });
}

console.log(`kills: ${wanted} on ${store}, seed ${seed}, ${atOnce} programs at a time, in ${folder}`);
const goesOn = () => kills < wanted && !isStopped && judge.violations.length === 0;
await Promise.all([kill(), ...Array.from({ length: atOnce }, () => live())]);
await agentsGone();
await world.stop();
await model.close();
report();
if (judge.violations.length === 0) rmSync(folder, { recursive: true, force: true });
process.exit(judge.violations.length === 0 ? 0 : 1);

async function kill() {
  for (; goesOn(); kills++) {
    while ([...open.values()].some((since) => Date.now() - since > starvedAfterMs)) await sleep(100);
    // Now and then while it comes up.
    if (random.chance(0.8)) await world.untilReady();
    await sleep(random.between(20, longestBetweenMs[store]));
    const victim = random.of(world.victims());
    if (victim.pid === undefined) await sleep(500);
    victim.signal('SIGKILL');
    met += open.size;
    counts.set(victim.name, (counts.get(victim.name) ?? 0) + 1);
    if ((kills + 1) % 20 === 0) console.log(`kills: ${kills + 1}, ${judge.judged} programs at their end`);
  }
}

/** One program after another, and the person whom it asks. */
async function live() {
  while (goesOn()) {
    const tag = `t${++started}`;
    try {
      const { body } = await call('POST', '/api/sessions', { program: 'long', prompt: tag });
      open.set(body.id, Date.now());
      await untilEnd(body.id).finally(() => open.delete(body.id));
      await judge.judge({ id: body.id, tag });
    } catch (cause) {
      judge.violations.push(`${tag}: ${cause.stack}`);
    }
  }
}

async function untilEnd(id) {
  const until = Date.now() + endsWithinMs;
  for (;;) {
    const { body } = await call('GET', `/api/sessions/${id}`);
    if (['completed', 'failed', 'cancelled'].includes(body.status)) return;
    if (Date.now() > until) throw new Error(`${id} has not ended: ${JSON.stringify(body).slice(0, 600)}`);
    const { requests = [] } = (await call('GET', `/api/sessions/${id}/requests`)).body;
    for (const { requestId } of requests) {
      await call('POST', `/api/sessions/${id}/requests/${requestId}`, { response: 'Ada' });
    }
    await sleep(100);
  }
}

async function agentsGone() {
  const until = Date.now() + agentsGoneWithinMs;
  while (world.agents().length > 0 && Date.now() < until) await sleep(250);
  for (const pid of world.agents()) judge.violations.push(`the agent ${pid} is nobody's, and lives`);
}

function report() {
  const who = [...counts].map(([name, times]) => `${name} ${times}`).join(', ');
  console.log(`kills ${kills} (${who}), which met programs ${met} times; programs judged ${judge.judged}`);
  console.log(
    `models: ${asked.length} calls, ${judge.askedAgain} again because no answer was on record; agents lost ${judge.lost}; emits unseen ${judge.unseen}`,
  );
  for (const violation of judge.violations) console.log(`VIOLATION ${violation}`);
  const count = judge.violations.length;
  console.log(
    `kills: seed ${seed}, ${kills} kills: ${count === 0 ? 'no violation' : `${count} violations; kept ${folder}`}`,
  );
}
