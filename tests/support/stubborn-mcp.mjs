// An MCP server that does not go by itself: it outlives the end of its input, and SIGTERM. Its one tool tells its pid.
import { createInterface } from 'node:readline';

process.on('SIGTERM', () => {});
setInterval(() => {}, 1_000);

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'stubborn', version: '1.0.0' },
  }),
  'tools/list': () => ({
    tools: [{ name: 'pid', description: 'Its process', inputSchema: { type: 'object', properties: {} } }],
  }),
  'tools/call': () => ({ content: [{ type: 'text', text: `pid ${process.pid}` }] }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const answer = answers[method];
  if (id === undefined || answer === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: answer(params) })}\n`);
});
