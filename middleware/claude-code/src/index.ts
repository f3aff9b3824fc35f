export { ClaudeAgent } from './claude-agent.ts';
export { ClaudeError } from './claude-process.ts';
export { Params } from './params.ts';
