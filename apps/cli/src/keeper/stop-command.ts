import { setTimeout as sleep } from 'node:timers/promises';
import { describeProcess } from '@concerto/keeper';
import { defineCommand, parseArguments } from '../arguments.ts';
import { addressOf, connect, orHint } from '../sessions/connect.ts';
import { runningServer } from '../state/project-state.ts';
import { print, printError } from '../terminal/print.ts';
import { isNamed, keeperHere, keeperOptions } from './kept-here.ts';

const stopsWithinMs = 60_000;
const pollMs = 50;

export const spec = defineCommand({
  name: 'stop',
  summary: 'Stop the server of this folder; agents that are at work go on, unless they are to end too.',
  usage: '[--agents]',
  options: {
    ...keeperOptions,
    agents: { type: 'boolean', help: 'end the agents that are at work too, also when no server runs' },
  },
  maxPositionals: 0,
});

export async function run(argv: string[]): Promise<number> {
  const { values } = parseArguments(spec, argv);
  if (isNamed(values)) return await orHint(values, () => stopThere(values));
  const running = runningServer(process.cwd());
  const keeper = keeperHere(values);
  const runningAgents = async () => (await keeper?.list())?.filter(({ running: runs }) => runs) ?? [];
  const before = await runningAgents();
  if (running === undefined && !values.agents) {
    const kept = before.length === 0 ? '' : `; ${staysText(before.length)}`;
    printError(`no server runs for this folder${kept}`);
    return 1;
  }
  if (running !== undefined) {
    const { pid, url } = running.server;
    if (!(await stopped(pid, values.agents))) {
      printError(`the server on ${url} (pid ${pid}) does not stop; \`kill -9 ${pid}\` ends it, and its agents go on`);
      return 1;
    }
    print(`the server on ${url} has stopped`);
  }
  const agents = await runningAgents();
  if (values.agents && keeper !== undefined) {
    // The server ends its own, so few are left to us. What held them has nothing more to do.
    const count = Math.max(before.length, agents.length);
    await keeper.dismiss();
    print(count === 1 ? '1 agent ended' : `${count} agents ended`);
  } else if (agents.length > 0) print(staysText(agents.length));
  return 0;
}

function staysText(count: number): string {
  const who = count === 1 ? '1 agent stays' : `${count} agents stay`;
  return `${who} at work; \`concerto agents ls\` shows, \`concerto stop --agents\` ends`;
}

/** A server that is named is asked, and is gone when nobody answers there any more. */
async function stopThere(values: {
  readonly url: string | undefined;
  readonly token: string | undefined;
  readonly agents: boolean;
}): Promise<number> {
  const client = connect(values);
  const url = addressOf(values);
  const kept = (await client.kept()).agents.length;
  await client.stopServer({ agents: values.agents });
  const until = Date.now() + stopsWithinMs;
  while (await answers(url)) {
    if (Date.now() > until) {
      printError(`the server on ${url} does not stop`);
      return 1;
    }
    await sleep(pollMs);
  }
  print(`the server on ${url} has stopped${values.agents && kept > 0 ? ', and its agents have ended' : ''}`);
  return 0;
}

async function answers(url: string): Promise<boolean> {
  return await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(stopsWithinMs) }).then(
    () => true,
    () => false,
  );
}

/** The second signal says that nobody need wait for a second thought. */
async function stopped(pid: number, agentsToo: boolean): Promise<boolean> {
  const before = await describeProcess(pid);
  if (before === undefined) return true;
  process.kill(pid, 'SIGTERM');
  const until = Date.now() + stopsWithinMs;
  for (let polls = 1; Date.now() < until; polls++) {
    await sleep(pollMs);
    if ((await describeProcess(pid))?.startTime !== before.startTime) return true;
    if (agentsToo && polls === 4) process.kill(pid, 'SIGTERM');
  }
  return false;
}
