// Answers with what it was given at `init`; secrets reversed, so that a test can tell a hand-over from a leak.
import { createInterface } from 'node:readline';

const say = (message) => console.log(JSON.stringify(message));
const reversed = (text) => [...text].reverse().join('');
let params = {};
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === 'init') {
    params = message.params;
    for (const server of Object.values(params.mcp_servers ?? {})) {
      for (const settings of [server.env, server.headers]) {
        for (const name of Object.keys(settings ?? {})) settings[name] = reversed(settings[name]);
      }
    }
    say({ type: 'init_ack' });
  } else {
    say({ type: 'result', params });
  }
}
