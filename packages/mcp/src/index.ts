export { type McpDoor, mcpOverHttp, mcpOverStdio } from './serve-mcp.ts';
