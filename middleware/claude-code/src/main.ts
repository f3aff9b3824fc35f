import process from 'node:process';
import { createInterface } from 'node:readline';
import { Bridge } from './bridge.ts';

const bridge = new Bridge({
  say: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
  environment: process.env,
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => void bridge.end().finally(() => process.exit(0)));
}

for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === '') continue;
  const message = line.startsWith('{') ? JSON.parse(line) : { type: 'prompt', text: line };
  // An answer may be needed for what was asked before to end.
  void bridge.take(message);
}
await bridge.end();
