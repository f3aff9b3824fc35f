// What was acknowledged against what the server says now and what the agents really got.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const settleWithinMs = 90_000;
const final = new Set(['completed', 'failed', 'cancelled']);
const settled = new Set([...final, 'idle', 'interrupted', 'paused', 'waitingForInput', 'waitingForApproval']);

export async function judge(client, received) {
  const faults = [];
  await untilAll(client, faults, ({ status, waiting }) => settled.has(status) || waiting?.for === 'slot', 'settles');
  const got = countLines(received);
  for (const session of client.sessions) {
    faults.push(...(await judgeMessages(client, session, got)), ...(await judgeEvents(client, session)));
    await client.call('POST', `/api/sessions/${session}/cancel`);
  }
  await untilAll(client, faults, ({ status }) => final.has(status), 'ends when cancelled');
  for (const session of client.sessions) faults.push(...(await judgeEvents(client, session)));
  const pool = (await client.call('GET', '/api/pool')).body;
  if (pool.active !== 0 || pool.waiting !== 0) faults.push(`slots leak: ${JSON.stringify(pool)}`);
  return faults;
}

async function untilAll(client, faults, fits, what) {
  const until = Date.now() + settleWithinMs;
  for (const session of client.sessions) {
    for (;;) {
      const { status, body } = await client.call('GET', `/api/sessions/${session}`);
      if (status === 404) {
        faults.push(`session ${session}: acknowledged and lost`);
        break;
      }
      if (fits(body)) break;
      if (Date.now() > until) {
        faults.push(`session ${session}: never ${what}; it is ${body.status}`);
        break;
      }
      await sleep(250);
    }
  }
}

function countLines(file) {
  const counts = new Map();
  for (const id of readFileSync(file, 'utf8').split('\n')) {
    if (id !== '') counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

async function judgeMessages(client, session, got) {
  const faults = [];
  const { body } = await client.call('GET', `/api/sessions/${session}/messages?all=true`);
  const all = [...body.pending, ...body.history];
  for (const id of client.sent.get(session)) {
    const times = all.filter((message) => message.id === id).length;
    if (times !== 1) faults.push(`message ${id}: acknowledged, and there ${times} times`);
  }
  for (const message of all) {
    const times = got.get(message.id) ?? 0;
    if (times > 1) faults.push(`message ${message.id}: the agent got it ${times} times`);
    // Delivered means written to the agent; one that was killed right then has not read it.
    if (times === 0 && message.status === 'delivered') client.unread += 1;
    const certain = message.status === 'cancelled' && message.reason === 'cancelled by the user';
    if (times > 0 && certain) faults.push(`message ${message.id}: cancelled, but the agent got it`);
  }
  return faults;
}

async function judgeEvents(client, session) {
  const faults = [];
  let after = 0;
  let last;
  for (;;) {
    const { body } = await client.call('GET', `/api/sessions/${session}/events?format=json&after=${after}&limit=500`);
    for (const event of body.events) {
      if (event.seq !== after + 1) faults.push(`session ${session}: event ${event.seq} follows ${after}`);
      if (last?.type === 'finish') faults.push(`session ${session}: ${event.type} follows finish`);
      after = event.seq;
      last = event;
    }
    if (!body.more) return faults;
  }
}
