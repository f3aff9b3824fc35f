import { builtinScripts, findScript, serveScript } from '@concerto/middleware-scripted';
import { defineCommand, parseArguments, UsageError } from './arguments.ts';

export const spec = defineCommand({
  name: 'play',
  summary: 'Be an agent that plays a script: NDJSON on stdin and stdout. For demos, examples and tests.',
  usage: 'SCRIPT',
  options: {
    speed: { type: 'string', value: 'N', help: 'divides all delays; 0 waits for nothing' },
    gates: { type: 'string', value: 'FOLDER', help: 'where the gates of the script are files' },
  },
  minPositionals: 1,
  maxPositionals: 1,
  details: [
    `SCRIPT is a JSON file, or one of ${builtinScripts().join(', ')}. In a manifest:`,
    '',
    '  [agents.coder]',
    '  command = "concerto"',
    '  args = ["play", "agents/coder.json"]',
  ].join('\n'),
});

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  const speed = Number(values.speed ?? 1);
  if (!Number.isFinite(speed) || speed < 0) throw new UsageError(`--speed is a number from 0, not "${values.speed}"`);
  await serveScript(findScript(positionals[0] ?? ''), { speed, gates: values.gates });
  return 0;
}
