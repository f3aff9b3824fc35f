// Asks one question and answers with what it was told.
import { createInterface } from 'node:readline';

const say = (message) => console.log(JSON.stringify(message));
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === 'prompt') {
    say({ type: 'progress', message: `got ${message.text}`, percent: 50 });
    say({ type: 'question', id: 'q1', question: 'Which?', options: ['a', 'b'] });
  } else if (message.type === 'response') {
    say({
      type: 'result',
      text: `${message.in_reply_to}/${message.in_reply_to_id}: ${JSON.stringify(message.value ?? message.error)}`,
    });
  }
}
