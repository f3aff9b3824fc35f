import process from 'node:process';
import { parseArgs } from 'node:util';
import { serveAgent } from '@concerto/agent-kit';
import { z } from 'zod';
import { builtinScripts, findScript } from './find-script.ts';
import { ScriptPlayer } from './play-script.ts';
import { parseScript, type Script, ScriptError } from './script.ts';

const usage = `usage: scripted [SCRIPT] [--speed N] [--gates FOLDER]

Plays a script as an agent: NDJSON on stdin and stdout.
  SCRIPT    a builtin script (${builtinScripts().join(', ')}) or a JSON file; without it, the param \`script\`
  --speed   divides all delays; 0 waits for nothing
  --gates   the folder where the script's gates are files
`;

const Params = z.strictObject({
  /** A builtin's name, a file, or the script itself. */
  script: z.union([z.string(), z.record(z.string(), z.json())]).optional(),
  speed: z.number().min(0).optional(),
  gates: z.string().optional(),
});

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { speed: { type: 'string' }, gates: { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    process.stdout.write(usage);
    return;
  }
  if (positionals.length > 1) throw new ScriptError(`one script at a time\n${usage}`);
  const speed = Number(values.speed ?? 1);
  if (!Number.isFinite(speed) || speed < 0) throw new ScriptError(`--speed is a number from 0, not "${values.speed}"`);
  const named = positionals[0];
  await serve(named === undefined ? undefined : findScript(named), { speed, gates: values.gates });
}

async function serve(named: Script | undefined, options: { speed: number; gates: string | undefined }): Promise<void> {
  let player = named === undefined ? undefined : new ScriptPlayer(named, options);
  await serveAgent({
    version: named?.version ?? '1.0.0',
    init(given) {
      const params = Params.safeParse(given);
      if (!params.success) throw new ScriptError(`params of a scripted agent: ${z.prettifyError(params.error)}`);
      const { script, speed = options.speed, gates = options.gates } = params.data;
      const chosen =
        typeof script === 'string' ? findScript(script) : script && parseScript(script, 'the param `script`');
      const played = chosen ?? named;
      if (played === undefined) throw noScript();
      player = new ScriptPlayer(played, { speed, gates });
      return player.handlers;
    },
    prompt(prompt, turn) {
      if (player === undefined) throw noScript();
      return player.prompt(prompt, turn);
    },
    ...player?.handlers,
  });
}

function noScript(): ScriptError {
  return new ScriptError(`no script: name one, or give the param \`script\`\n${usage}`);
}

try {
  await main();
} catch (error) {
  // Whoever started us reads stderr: a fault in the script is theirs to mend, a stack would only hide it.
  const isTheirs = error instanceof ScriptError || (error instanceof TypeError && 'code' in error);
  process.stderr.write(
    `scripted: ${isTheirs ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  process.exitCode = 1;
}
