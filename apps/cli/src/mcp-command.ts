import { mcpOverStdio } from '@concerto/mcp';
import { defineCommand, parseArguments } from './arguments.ts';
import { ownVersion } from './own-place.ts';
import { connect, connectionOptions } from './sessions/connect.ts';

export const spec = defineCommand({
  name: 'mcp',
  summary: 'Serve tools for a model on standard input and output: start, follow, steer and answer sessions.',
  usage: '[OPTIONS]',
  options: { url: connectionOptions.url, token: connectionOptions.token },
  maxPositionals: 0,
  details:
    'A client of the Model Context Protocol starts it, for example: claude mcp add concerto -- concerto mcp. A running server has the same at /mcp.',
});

export async function run(argv: string[]): Promise<number> {
  const { values } = parseArguments(spec, argv);
  const client = connect(values);
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());
  await mcpOverStdio(client, { version: ownVersion(), signal: stopped.signal });
  return 0;
}
