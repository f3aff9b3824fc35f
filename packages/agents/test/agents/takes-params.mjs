// Prints a banner, then acknowledges its params and answers with them.
import { createInterface } from 'node:readline';

const say = (message) => console.log(JSON.stringify(message));
let params;
console.log('Welcome to the agent');
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === 'init') {
    params = message.params;
    say({ type: 'log', message: 'starting' });
    say({ type: 'init_ack', version: '2.1', capabilities: ['steer', 'interrupt', 'fly'] });
  } else if (message.type === 'prompt') {
    say({ type: 'result', text: message.text, params, prompt: message });
  } else {
    say({ type: 'ack', in_reply_to: message.type, in_reply_to_id: message.id });
  }
}
