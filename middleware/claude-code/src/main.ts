import process from 'node:process';
import { serveAgent } from '@concerto/agent-kit';
import * as z from 'zod';
import { ClaudeAgent } from './claude-agent.ts';
import { ClaudeError } from './claude-process.ts';
import { Params } from './params.ts';

let agent = new ClaudeAgent({});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => void agent.end().finally(() => process.exit(0)));
}

await serveAgent({
  version: '0.1.0',
  async init(given) {
    const params = Params.safeParse(given);
    if (!params.success) throw new ClaudeError('params', `params of Claude Code: ${z.prettifyError(params.error)}`);
    agent = new ClaudeAgent(params.data);
    await agent.start();
    return agent.handlers;
  },
  prompt: (prompt, turn) => agent.prompt(prompt, turn),
  // Without params there is no `init`; what the agent can do is the same.
  ...agent.handlers,
});
await agent.end();
