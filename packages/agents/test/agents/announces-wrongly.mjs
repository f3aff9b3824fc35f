// Takes its params, and announces something in a form that is none.
import { createInterface } from 'node:readline';

for await (const line of createInterface({ input: process.stdin })) {
  const isInit = line.includes('"init"');
  console.log(JSON.stringify(isInit ? { type: 'init_ack', capabilities: 'steer' } : { type: 'result', text: 'done' }));
}
