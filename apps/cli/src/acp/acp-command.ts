import { defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { ownVersion } from '../own-place.ts';
import { connect, connectionOptions } from '../sessions/connect.ts';
import { serveAcp } from './acp-agent.ts';

export const spec = defineCommand({
  name: 'acp',
  summary: 'Be an agent for an editor that speaks the Agent Client Protocol, over a running server.',
  usage: '[--agent NAME | --program NAME | --assistant NAME] [OPTIONS]',
  options: {
    agent: { type: 'string', value: 'NAME', help: 'what new sessions run; default the first agent of the server' },
    program: { type: 'string', value: 'NAME', help: 'or a program' },
    assistant: { type: 'string', value: 'NAME', help: 'or an assistant' },
    url: connectionOptions.url,
    token: connectionOptions.token,
  },
  maxPositionals: 0,
  details:
    'An editor starts it; docs/guide/wires.md has the setup. Its sessions are the server’s: the page shows them, rules and supervisors answer in them, and others can steer them.',
});

export async function run(argv: string[]): Promise<number> {
  const { values } = parseArguments(spec, argv);
  const { agent, program, assistant } = values;
  const named = Object.entries({ agent, program, assistant }).filter(([, name]) => name !== undefined);
  if (named.length > 1) throw new UsageError('name one of --agent, --program and --assistant');
  const client = connect(values);
  const target = named.length > 0 ? Object.fromEntries(named) : await firstOf(client);
  await serveAcp({ client, target, version: ownVersion(), input: process.stdin, output: process.stdout });
  return 0;
}

async function firstOf(client: ReturnType<typeof connect>): Promise<Record<string, string>> {
  const [first] = (await client.agents()).agents;
  if (first === undefined) throw new UsageError('the server has nothing to start');
  return { [first.kind]: first.name };
}
