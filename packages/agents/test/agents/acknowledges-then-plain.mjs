// Greets, takes its params, and then answers in plain text.
import { createInterface } from 'node:readline';

console.log('Welcome');
for await (const line of createInterface({ input: process.stdin })) {
  const isInit = line.includes('"init"');
  console.log(isInit ? JSON.stringify({ type: 'init_ack' }) : 'all\ndone');
}
