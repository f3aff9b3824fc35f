// Notes each message down before it does anything with it: `session message` a line. Then works a little, sometimes
// asks, sometimes leaves. The file is argv[2].
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const [, , file] = process.argv;
const say = (message) => console.log(JSON.stringify(message));
const lines = createInterface({ input: process.stdin });
const replies = new Map();
let questions = 0;

say({ type: 'init_ack', capabilities: ['steer', 'interrupt', 'cancel'] });

async function ask() {
  questions += 1;
  const id = `q${questions}`;
  const answered = new Promise((resolve) => replies.set(id, resolve));
  say({ type: 'question', id, question: 'Go on?' });
  await answered;
}

/** What was interrupted says nothing more: a result of it would end the next turn. */
let turn = 0;

async function work() {
  turn += 1;
  const mine = turn;
  for (let step = 0; step < 4 && mine === turn; step++) {
    say({ type: 'progress', message: `step ${step}` });
    await sleep(Math.random() * 150);
  }
  if (mine === turn && Math.random() < 0.2) await ask();
  if (mine !== turn) return;
  if (Math.random() < 0.03) process.exit(3);
  say({ type: 'result', text: 'done' });
}

lines.on('line', (line) => {
  const message = JSON.parse(line);
  if (message.type === 'prompt' || message.type === 'steer') appendFileSync(file, `${message.id}\n`);
  if (message.type === 'prompt') void work();
  else if (message.type === 'response') replies.get(message.in_reply_to_id)?.();
  else if (message.type === 'interrupt' || message.type === 'cancel') {
    turn += 1;
    say({ type: 'ack', in_reply_to: message.type, in_reply_to_id: message.id });
  }
});
lines.on('close', () => process.exit(0));
