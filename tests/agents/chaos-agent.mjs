// Notes down all that it is told before it does anything with it, and all that it says before it says it, in a file of
// its own in the folder argv[2]. Works a little, sometimes asks, sometimes (unless argv[3] is `steady`) leaves.
import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const [, , folder, manner] = process.argv;
const steady = manner === 'steady';
const name = randomBytes(6).toString('hex');
// In a sandbox its pid is not the one that others see: by this it is known from outside.
process.title = `chaos-agent.mjs ${folder} ${name}`;
const note = (entry) => appendFileSync(join(folder, `${name}.jsonl`), `${JSON.stringify(entry)}\n`);
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const replies = new Map();
let said = 0;
let questions = 0;
/** What was interrupted says nothing more: a result of it would end the next turn. */
let turn = 0;

note({ begun: name });
say({ type: 'init_ack', capabilities: ['steer', 'interrupt', 'cancel'] });

function tell() {
  const text = `T${name}-${++said};`;
  note({ said: text });
  say({ type: 'partial', text });
}

async function ask() {
  questions += 1;
  const id = `${name}.q${questions}`;
  const answered = new Promise((resolve) => replies.set(id, resolve));
  note({ asked: id });
  if (questions % 2 === 0) say({ type: 'question', id, question: `Go on with ${id}?` });
  else say({ type: 'approval', id, description: `May I do ${id}?`, risk_level: 'low' });
  await answered;
}

async function work() {
  turn += 1;
  const mine = turn;
  const steps = 2 + Math.floor(Math.random() * 6);
  for (let step = 0; step < steps && mine === turn; step++) {
    tell();
    await sleep(Math.random() * 120);
  }
  if (mine === turn && Math.random() < 0.3) await ask();
  if (mine !== turn) return;
  if (!steady && Math.random() < 0.02) {
    note({ end: 'left' });
    process.exit(3);
  }
  say({ type: 'result', text: 'done' });
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line);
    if (message.type === 'prompt' || message.type === 'steer') note({ got: message.id, how: message.type });
    if (message.type === 'prompt') void work();
    else if (message.type === 'response') {
      note({ answered: message.in_reply_to_id });
      replies.get(message.in_reply_to_id)?.();
    } else if (message.type === 'interrupt' || message.type === 'cancel') {
      turn += 1;
      say({ type: 'ack', in_reply_to: message.type, in_reply_to_id: message.id });
    }
  })
  .on('close', () => {
    note({ end: 'stdin' });
    process.exit(0);
  });
process.on('SIGTERM', () => {
  note({ end: 'SIGTERM' });
  process.exit(0);
});
