// Speaks our own wire with everything it has; a prompt says what happens.
import { createInterface } from 'node:readline';

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.type === 'init') say({ type: 'init_ack', version: '1', capabilities: ['interrupt', 'cancel'] });
  if (message.type === 'response') say({ type: 'result', text: JSON.stringify(message.value) });
  if (message.type === 'interrupt' || message.type === 'cancel') {
    say({ type: 'ack', in_reply_to: message.type, in_reply_to_id: message.id });
    if (message.type === 'cancel') process.exit(0);
  }
  if (message.type !== 'prompt') return;
  if (message.parts !== undefined) return say({ type: 'result', text: JSON.stringify(message.parts) });
  if (message.text === 'hello') say({ type: 'result', text: 'Hello there.' });
  if (message.text === 'permission') say({ type: 'approval', id: 'a-1', description: 'rm -r build' });
  if (message.text === 'wait') say({ type: 'partial', text: 'Working.' });
  if (message.text === 'exit') process.exit(7);
});
