import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { concertoCommand } from '../support/concerto-command.ts';

/** Ends the process in the moment in which it says that it is ready: no reader can be faster. */
const stopAtReadyLine = `
  const { write } = process.stdout;
  process.stdout.write = function (text, ...rest) {
    if (String(text).startsWith('listening on')) process.kill(process.pid, 'SIGTERM');
    return write.call(this, text, ...rest);
  };
`;

test('SIGTERM at the moment of the ready line is a stop like any other', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'concerto-stop-'));
  const preload = `data:text/javascript,${encodeURIComponent(stopAtReadyLine)}`;
  try {
    const child = spawn(
      process.execPath,
      ['--import', preload, ...concertoCommand, 'serve', '--port', '0', '--store', 'memory:', '--no-auth'],
      { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], timeout: 50_000, killSignal: 'SIGKILL' },
    );
    const [code, signal] = await once(child, 'exit');
    expect({ code, signal }).toEqual({ code: 0, signal: null });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
