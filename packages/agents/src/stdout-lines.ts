import { setTimeout as sleep } from 'node:timers/promises';
import { type Line, LineSplitter } from '@concerto/protocol';
import type { AgentExit } from './agent-connection.ts';
import type { AgentProcess } from './agent-process.ts';

/** After the exit: for stdout to end, which something that got away may hold open. */
const stdoutCloseMs = 1_000;
/** After stdout ended: for the process to end too. One that lives on can say nothing more. */
const exitAfterStdoutMs = 2_000;

export type StdoutReader = {
  readonly line: (line: Line) => void;
  /** Asked after each chunk; stdout is then not read until somebody resumes it. */
  readonly isFull: () => boolean;
  /** The last call: the process has ended and every line it wrote has been read. */
  readonly end: (exit: AgentExit) => void;
};

/** Everything a process writes on stdout, line by line, to its very end, which may come after the process has ended. */
export function readStdoutLines(agentProcess: AgentProcess, reader: StdoutReader): void {
  const { stdout, exited } = agentProcess;
  const splitter = new LineSplitter();
  stdout.on('data', (chunk: Buffer) => {
    for (const line of splitter.push(chunk)) reader.line(line);
    if (reader.isFull()) stdout.pause();
  });
  stdout.once('end', () => void endIfMute(agentProcess));
  const closed = new Promise<void>((resolve) => stdout.once('close', resolve));
  void exited.then(async (exit) => {
    // A slow reader leaves what the agent wrote in the pipe and is waited for; a pipe that somebody else holds open is not.
    while (!stdout.closed) {
      const wasRead = !stdout.isPaused();
      await Promise.race([closed, sleep(stdoutCloseMs, undefined, { ref: false })]);
      if (wasRead && !stdout.isPaused()) break;
    }
    stdout.destroy();
    for (const line of splitter.end()) reader.line(line);
    reader.end(exit);
  });
}

async function endIfMute(agentProcess: AgentProcess): Promise<void> {
  const gone = agentProcess.exited.then(() => true);
  if (await Promise.race([gone, sleep(exitAfterStdoutMs, false, { ref: false })])) return;
  await agentProcess.end();
}
