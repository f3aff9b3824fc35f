// Starts an agent and ends without a thought for it.
import { join } from 'node:path';
import { startAgent } from '@concerto/agents';

const agent = await startAgent({
  name: 'left',
  command: process.execPath,
  args: [join(import.meta.dirname, 'agents', 'ignores-sigterm.mjs')],
});
for await (const _ of agent.output) break;
process.stdout.write(String(agent.identity.pid), () => process.exit(0));
