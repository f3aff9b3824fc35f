export { type McpDoor, mcpOverHttp } from './http-door.ts';
export { mcpOverStdio } from './serve-mcp.ts';
