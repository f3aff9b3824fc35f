// An MCP server whose tools ask: `sure` for a yes, `patient` for a word, `hasty` too, and gives up.
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const waiting = new Map();
let asked = 0;

function ask(message, properties = {}) {
  const id = `ask-${++asked}`;
  const requestedSchema = { type: 'object', properties, required: Object.keys(properties) };
  say({ id, method: 'elicitation/create', params: { message, requestedSchema } });
  return { id, answered: new Promise((resolve) => waiting.set(id, resolve)) };
}

const tools = {
  sure: async () => await ask('Delete all of it?').answered,
  patient: async () => await ask('Which?', { which: { type: 'string', minLength: 2 } }).answered,
  hasty: async () => {
    const { id } = ask('Quick, which?', { which: { type: 'string' } });
    await sleep(300);
    say({ method: 'notifications/cancelled', params: { requestId: id, reason: 'too slow' } });
    return { action: 'nobody' };
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) waiting.get(id)?.(result);
  if (method === 'initialize') {
    const serverInfo = { name: 'asking', version: '1' };
    say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  }
  if (method === 'tools/list') {
    const listed = Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object', properties: {} } }));
    say({ id, result: { tools: listed } });
  }
  if (method === 'tools/call') void call(id, params.name);
});

async function call(id, name) {
  const given = await tools[name]();
  say({ id, result: { content: [{ type: 'text', text: JSON.stringify(given) }] } });
}
