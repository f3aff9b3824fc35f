import { serveAgent } from '@concerto/agent-kit';
import * as z from 'zod';
import { findScript } from './find-script.ts';
import { ScriptPlayer } from './play-script.ts';
import { parseScript, type Script, ScriptError } from './script.ts';

const Params = z.strictObject({
  /** A builtin's name, a file, or the script itself. */
  script: z.union([z.string(), z.record(z.string(), z.json())]).optional(),
  speed: z.number().min(0).optional(),
  gates: z.string().optional(),
});

/** Plays a script as an agent: NDJSON on stdin and stdout. Throws `ScriptError` for one that cannot be played. */
export async function serveScript(
  named: Script | undefined,
  options: { readonly speed: number; readonly gates: string | undefined },
): Promise<void> {
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
  return new ScriptError('no script: name one, or give the param `script`');
}
