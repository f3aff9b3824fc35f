// An MCP server that has another tool once it was asked to unlock it.
import { createInterface } from 'node:readline';

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const words = { unlock: 'unlocked', hidden: 'found' };
let known = ['unlock'];

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'growing', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: known.map((name) => ({ name, inputSchema: { type: 'object' } })) }),
  'tools/call': ({ name }) => {
    if (name === 'unlock') {
      known = ['unlock', 'hidden'];
      say({ method: 'notifications/tools/list_changed' });
    }
    return { content: [{ type: 'text', text: words[name] }] };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) say({ id, result: answers[method]?.(params) ?? {} });
}
