// An agent that does what its prompt says. A prompt that is a JSON array is a list of steps; any other is answered
// with `did: PROMPT`. Flags: `--can a,b` announces, `--deaf a,b` announces and never confirms, `--stubborn` ignores
// SIGINT and SIGTERM, `--asleep` never reads, `--trace=FILE` writes down every line in (`<`) and out (`>`),
// `--dozes=FILE` reads nothing until there is that file.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const flag = (name) => process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3);
const list = (name) => flag(name)?.split(',') ?? [];
const can = list('can');
const deaf = list('deaf');
const waiters = [];
const responses = [];

const trace = flag('trace');
const noted = (way, text) => trace !== undefined && appendFileSync(trace, `${way} ${text.trimEnd()}\n`);
const write = (text) => {
  noted('>', text);
  return new Promise((resolve) => process.stdout.write(text, resolve));
};
const send = (message) => write(`${JSON.stringify(message)}\n`);
const delay = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

if (process.argv.includes('--stubborn')) {
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1000);
}
if (can.length + deaf.length > 0 && !process.argv.includes('--params')) {
  await send({ type: 'init_ack', version: '1', capabilities: [...can, ...deaf] });
}

function nextResponse() {
  const ready = responses.shift();
  return ready === undefined ? new Promise((resolve) => waiters.push(resolve)) : Promise.resolve(ready);
}

async function perform(step, turn) {
  if (step.say !== undefined) return send(step.say);
  // More steps than a prompt holds, from a file.
  if (step.play !== undefined) {
    for (const inner of JSON.parse(readFileSync(step.play, 'utf8'))) await perform(inner, turn);
    return;
  }
  if (step.raw !== undefined) return write(step.raw);
  if (step.many !== undefined) {
    for (let i = 0; i < step.many; i++) {
      await send({ type: 'partial', text: `${i} ${'x'.repeat(step.bytes ?? 0)}` });
      if (step.every !== undefined && i % step.every === 0) await delay(1);
    }
    return;
  }
  // Until there is that file: a numbered line, a pause, the next.
  if (step.talks !== undefined) {
    for (let i = 0; !existsSync(step.talks); i++) {
      await send({ type: 'partial', text: `${i} ${'x'.repeat(step.bytes ?? 0)}` });
      await delay(step.pauseMs ?? 10);
    }
    return;
  }
  if (step.deep !== undefined)
    return write(`{"type":"result","text":"x","deep":${'['.repeat(step.deep)}${']'.repeat(step.deep)}}\n`);
  // One line of exactly so many bytes before its line feed.
  if (step.line !== undefined) {
    const rest = '{"type":"result","text":""}'.length;
    return write(`{"type":"result","text":"${'x'.repeat(step.line - rest)}"}\n`);
  }
  if (step.ask !== undefined) {
    await send(step.ask);
    turn.answer = await nextResponse();
    return;
  }
  if (step.collect !== undefined) {
    turn.answers = [];
    for (let i = 0; i < step.collect; i++) turn.answers.push(await nextResponse());
    return;
  }
  if (step.stderr !== undefined) return new Promise((resolve) => process.stderr.write(step.stderr, resolve));
  if (step.tell === 'prompt') return send({ type: 'result', text: JSON.stringify(turn.prompt) });
  if (step.tell === 'answer') return send({ type: 'result', text: JSON.stringify(turn.answer) });
  if (step.tell === 'answers') return send({ type: 'result', text: JSON.stringify(turn.answers) });
  if (step.until !== undefined) {
    while (!existsSync(step.until)) await delay(15);
    return;
  }
  if (step.exit !== undefined) process.exit(step.exit);
  if (step.hang === true) await new Promise(() => setInterval(() => {}, 1000));
}

async function play(prompt) {
  const { text } = prompt;
  if (!text.startsWith('[')) return send({ type: 'result', text: `did: ${text}` });
  const turn = { prompt };
  for (const step of JSON.parse(text)) await perform(step, turn);
}

if (process.argv.includes('--asleep')) await new Promise(() => setInterval(() => {}, 1000));

const bed = flag('dozes');
while (bed !== undefined && !existsSync(bed)) await delay(15);

createInterface({ input: process.stdin })
  .on('line', (line) => {
    noted('<', line);
    const message = JSON.parse(line);
    switch (message.type) {
      case 'init':
        void send({ type: 'init_ack', version: '1', capabilities: [...can, ...deaf] });
        void send({ type: 'heard', what: message });
        return;
      case 'prompt':
        void play(message);
        return;
      case 'response':
        (waiters.shift() ?? ((value) => responses.push(value)))(message);
        return;
      case 'steer':
        void send({ type: 'heard', what: message });
        return;
      default:
        void send({ type: 'heard', what: message });
        if (!deaf.includes(message.type)) {
          void send({ type: 'ack', in_reply_to: message.type, in_reply_to_id: message.id });
          if (message.type === 'cancel') setTimeout(() => process.exit(0), 5);
        }
    }
  })
  .on('close', () => {
    if (!process.argv.includes('--stubborn')) process.exit(0);
  });
