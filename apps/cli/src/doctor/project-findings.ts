import { setMaxListeners } from 'node:events';
import type { DoctorFinding } from '@concerto/protocol';
import { declaredTasks, loadDeclared } from './doctor-tasks.ts';
import { type CheckTask, type Finding, failed, messageOf } from './finding.ts';

const checksAtOnce = 4;
const answerWithinMs = 15_000;
const allWithinMs = 120_000;

/**
 * What `concerto doctor --no-prompt` finds about what the manifest declares, for a server that runs: agents are started
 * and asked nothing, so that it costs nothing.
 */
export async function projectFindings(config: string | undefined): Promise<readonly DoctorFinding[]> {
  const declared = loadDeclared(config);
  const calledOff = AbortSignal.timeout(allWithinMs);
  setMaxListeners(0, calledOff);
  const plan = { prompt: undefined, online: false, timeoutMs: answerWithinMs, calledOff };
  const tasks = declaredTasks(declared, undefined, plan);
  const found: (readonly Finding[])[] = tasks.map(() => []);
  const queue = [...tasks.entries()];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) found[next[0]] = await findingsOf(next[1]);
  };
  await Promise.all(Array.from({ length: checksAtOnce }, work));
  return [...declared.findings, ...found.flat()].map(({ picture: _picture, ...finding }) => finding);
}

async function findingsOf(task: CheckTask): Promise<readonly Finding[]> {
  try {
    return await task.run(() => undefined);
  } catch (cause) {
    return [failed(task.name, `the check itself failed: ${messageOf(cause)}`, 'report this as a bug of Concerto')];
  }
}
