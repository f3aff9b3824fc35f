// `npm run soak [-- MINUTES]`: real processes, kill -9 and SIGSTOP at random, a client that checks; ends with a verdict.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from './build.mjs';
import { install } from './install.mjs';
import { Client } from './soak/client.mjs';
import { startAll } from './soak/processes.mjs';
import { judge } from './soak/verdict.mjs';

const minutes = Number(process.argv[2] ?? 5);
if (!(minutes > 0)) {
  console.error('usage: npm run soak -- MINUTES');
  process.exit(2);
}
install();
build();

const users = 4;
const token = 'soak';
const folder = mkdtempSync(join(tmpdir(), 'concerto-soak-'));
const { url, received, parts, stop } = await startAll(folder, token);
const client = new Client({ url, token, prefix: `soak-${Date.now()}` });
const until = Date.now() + minutes * 60_000;
const goesOn = () => Date.now() < until;
let agentKills = 0;
let sleeps = 0;

console.log(`soak: ${minutes} minutes on ${url}, in ${folder}`);
await Promise.all([trouble(), progress(), ...Array.from({ length: users }, () => client.live(goesOn))]);
console.log('soak: calm; everything must settle now');
const faults = await judge(client, received);
const left = agents();
if (left.length > 0) faults.push(`agents outlive their sessions: ${left.join(' ')}`);
await stop();
report();
if (faults.length === 0) rmSync(folder, { recursive: true, force: true });
process.exit(faults.length === 0 ? 0 : 1);

/** Every few seconds something dies, or sleeps longer or shorter than a lease. */
async function trouble() {
  while (goesOn()) {
    await sleep(2_000 + Math.random() * 6_000);
    if (!goesOn()) return;
    const drawn = Math.random();
    if (drawn < 0.2) parts.server.kill();
    else if (drawn < 0.5) anyRunner().kill();
    else if (drawn < 0.65) parts.redis.kill();
    else if (drawn < 0.85) killAgent();
    else await putToSleep(anyRunner());
  }
}

function anyRunner() {
  return Math.random() < 0.5 ? parts.runner1 : parts.runner2;
}

async function putToSleep(runner) {
  sleeps += 1;
  runner.kill('SIGSTOP');
  await sleep(Math.random() < 0.5 ? 2_000 : 13_000);
  runner.kill('SIGCONT');
}

/** Ours are known by the file they write to. */
function agents() {
  const found = spawnSync('pgrep', ['-f', received], { encoding: 'utf8' });
  return found.stdout.split('\n').filter((pid) => pid !== '' && Number(pid) !== process.pid);
}

function killAgent() {
  const all = agents();
  const pid = Number(all[Math.floor(Math.random() * all.length)]);
  if (!(pid > 0)) return;
  agentKills += 1;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It went by itself meanwhile.
  }
}

async function progress() {
  while (goesOn()) {
    await sleep(Math.min(15_000, Math.max(0, until - Date.now())));
    console.log(`soak: ${client.sessions.length} sessions, ${client.asked} wishes, ${client.repeated} repeated`);
  }
}

function report() {
  const messages = [...client.sent.values()].reduce((sum, ids) => sum + ids.length, 0);
  const kills = Object.values(parts).map((part) => `${part.name} ${part.kills}`);
  console.log(
    `sessions ${client.sessions.length}, messages ${messages}, wishes ${client.asked}, repeated ${client.repeated}`,
  );
  console.log(`kill -9: ${kills.join(', ')}, agents ${agentKills}; put to sleep: ${sleeps}`);
  console.log(`written to an agent that died before it read: ${client.unread}`);
  console.log(`refusals: ${[...client.refusals].map(([code, times]) => `${code} ${times}`).join(', ') || 'none'}`);
  for (const fault of faults) console.log(`FAULT ${fault}`);
  console.log(
    faults.length === 0 ? 'soak: nothing was lost or doubled' : `soak: ${faults.length} faults; kept ${folder}`,
  );
}
