// Says again what a real agent said, in answer to what it is asked: `replay.mjs FILE`.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const heard = [];
let wake = () => {};
createInterface({ input: process.stdin }).on('line', (line) => {
  heard.push(JSON.parse(line));
  wake();
});

async function until(find) {
  for (;;) {
    const found = heard.find(find);
    if (found !== undefined) return found;
    await new Promise((resolve) => {
      wake = resolve;
    });
  }
}

const taken = new Set();
/** The ids of requests to Claude Code are made anew each time: they are answered in their order. */
async function asked(requestId) {
  const isOurs = ({ type, request_id: id }) =>
    type === 'control_request' && !taken.has(id) && (requestId === 'version') === (id === 'version');
  const { request_id: id } = await until(isOurs);
  taken.add(id);
  return id;
}

const isPrompt = ({ type, method }) => type === 'user' || method === 'turn/start' || method === 'session/prompt';

for (const line of readFileSync(process.argv[2], 'utf8').split('\n')) {
  if (line === '') continue;
  const message = JSON.parse(line);
  if (message.PROMPT === true) await until(isPrompt);
  else if (message.type === 'control_response') {
    message.response.request_id = await asked(message.response.request_id);
    process.stdout.write(`${JSON.stringify(message)}\n`);
  } else {
    const isAnswer = message.id !== undefined && message.method === undefined;
    if (isAnswer) await until(({ id, method }) => id === message.id && method !== undefined);
    process.stdout.write(`${line}\n`);
  }
}
