// A small MCP server without an SDK: one JSON-RPC message a line. The notes are gone when it ends.
import { createInterface } from 'node:readline';

const notes = new Map([['shopping', 'apples, bread']]);
const text = { type: 'string' };
const tool = (name, description, properties) => ({
  name,
  description,
  inputSchema: { type: 'object', properties, required: Object.keys(properties) },
});
const tools = [
  tool('list', 'The titles of all notes', {}),
  tool('read', 'One note', { title: text }),
  tool('write', 'Keeps a note under a title', { title: text, text }),
];

function call(name, { title, text: written }) {
  switch (name) {
    case 'list':
      return [...notes.keys()].join(', ');
    case 'read':
      if (!notes.has(title)) throw new Error(`there is no note "${title}"`);
      return notes.get(title);
    case 'write':
      notes.set(title, written);
      return `kept "${title}"`;
    default:
      throw new Error(`there is no tool "${name}"`);
  }
}

function answer(method, params) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'notes', version: '1.0.0' },
      };
    case 'tools/list':
      return { tools };
    case 'tools/call':
      try {
        return { content: [{ type: 'text', text: call(params.name, params.arguments ?? {}) }] };
      } catch (error) {
        return { content: [{ type: 'text', text: error.message }], isError: true };
      }
    default:
      return {};
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return; // A notification wants no answer.
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: answer(method, params) })}\n`);
});
