import { defineCommand, parseArguments } from '../arguments.ts';
import { print } from '../terminal/print.ts';
import { keptToken, runningServer } from './project-state.ts';

export const spec = defineCommand({
  name: 'token',
  summary: 'Print the token of the server of this folder.',
  usage: '',
  options: {
    url: { type: 'boolean', help: 'print the address that signs a browser in, instead' },
  },
  maxPositionals: 0,
  details: [
    'The token is made once for each folder in which `concerto serve` is started, and kept in your own state folder',
    '($XDG_STATE_HOME/concerto, or ~/.local/state/concerto), readable by you alone. It gives all rights on that server.',
  ].join('\n'),
});

export async function run(argv: string[]): Promise<number> {
  const { values } = parseArguments(spec, argv);
  const running = runningServer(process.cwd());
  if (running?.server.token === 'none') throw new Error('the server of this folder asks for no token (--no-auth)');
  if (running?.server.token === 'given')
    throw new Error(
      'the server of this folder was started with a token of its own (--token, CONCERTO_TOKEN or token_env); it is not kept',
    );
  if (values.url && running === undefined)
    throw new Error('no server runs for this folder; start one with `concerto serve`');
  const token = keptToken(running?.project ?? process.cwd());
  print(values.url && running !== undefined ? `${running.server.url}/?token=${encodeURIComponent(token)}` : token);
  return 0;
}
