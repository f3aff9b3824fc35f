import process from 'node:process';
import { parseArgs } from 'node:util';
import { builtinScripts, findScript } from './find-script.ts';
import { ScriptError } from './script.ts';
import { serveScript } from './serve-script.ts';

const usage = `usage: scripted [SCRIPT] [--speed N] [--gates FOLDER]

Plays a script as an agent: NDJSON on stdin and stdout.
  SCRIPT    a builtin script (${builtinScripts().join(', ')}) or a JSON file; without it, the param \`script\`
  --speed   divides all delays; 0 waits for nothing
  --gates   the folder where the script's gates are files
`;

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
  await serveScript(named === undefined ? undefined : findScript(named), { speed, gates: values.gates });
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
