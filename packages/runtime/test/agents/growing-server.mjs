import { createRequire } from 'node:module';

// An MCP server that has another tool once it is asked to unlock it.
const require = createRequire(new URL('../../../models/package.json', import.meta.url));
const { McpServer } = require('@modelcontextprotocol/sdk/server/mcp.js');
const { StdioServerTransport } = require('@modelcontextprotocol/sdk/server/stdio.js');

const server = new McpServer({ name: 'growing', version: '1.0.0' });
const said = (text) => ({ content: [{ type: 'text', text }] });
server.registerTool('unlock', {}, () => {
  server.registerTool('hidden', {}, () => said('found'));
  return said('unlocked');
});
await server.connect(new StdioServerTransport());
