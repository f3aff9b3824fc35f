import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '@concerto/base';
import {
  type Script,
  type ScriptedModelServer,
  startScriptedModelServer,
} from '../../packages/models/src/testing/scripted-model-server.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const answersWithinMs = 60_000;

export const middleware = join(root, 'middleware/claude-code/dist/main.js');

/** The real program, put there by `npm run test:agents`. */
export const claude = process.env.CONCERTO_TEST_CLAUDE ?? '';

/** A model on loopback, a home without any settings, and a folder to work in. Close it. */
export type Place = {
  readonly model: ScriptedModelServer;
  readonly workDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
};

export async function openPlace(script: Script): Promise<Place> {
  const model = await startScriptedModelServer(onlyTheAgent(script));
  const home = await mkdtemp(join(tmpdir(), 'claude-home-'));
  const workDir = await mkdtemp(join(tmpdir(), 'claude-work-'));
  return {
    model,
    workDir,
    // Nothing is inherited but PATH: neither a login nor a setting of whoever runs the tests.
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      CLAUDE_CONFIG_DIR: join(home, '.claude'),
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'scripted',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false',
      CLAUDE_CODE_MAX_RETRIES: '1',
    },
    close: async () => {
      await model.close();
      for (const folder of [home, workDir]) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The program also asks its model for titles and the like, without tools: those are not turns of the conversation. */
export function onlyTheAgent(script: Script): Script {
  let turns = 0;
  return (request) => {
    const { tools } = request.body;
    if (!Array.isArray(tools) || tools.length === 0) return 'aside';
    const index = turns++;
    return typeof script === 'function' ? script(request, index) : (script[index] ?? 'The script is over.');
  };
}

export type Agent = {
  readonly pid: number;
  readonly send: (message: JsonObject) => void;
  /** Everything up to the next message of this type, which is the last one. Fails when the agent is gone or silent. */
  readonly until: (type: string) => Promise<JsonObject[]>;
  readonly exited: Promise<number | null>;
  readonly stop: () => Promise<void>;
};

/** The middleware as a process, spoken to as the runtime speaks to it. */
export function startAgent(env: Readonly<Record<string, string>>): Agent {
  const child = spawn(process.execPath, [middleware], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const inbox = new Inbox(child);
  return {
    pid: child.pid ?? 0,
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    until: (type) => inbox.until(type),
    exited: once(child, 'exit').then(([code]: (number | null)[]) => code ?? null),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.stdin.end();
      await gone;
    },
  };
}

class Inbox {
  readonly #messages: JsonObject[] = [];
  #rest = '';
  #stderr = '';
  #isGone = false;
  #wake: () => void = () => {};

  constructor(child: ChildProcess) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.#messages.push(JSON.parse(line));
      this.#wake();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    child.on('close', () => {
      this.#isGone = true;
      this.#wake();
    });
  }

  async until(type: string): Promise<JsonObject[]> {
    const deadline = Date.now() + answersWithinMs;
    for (;;) {
      const index = this.#messages.findIndex((message) => message.type === type);
      if (index >= 0) return this.#messages.splice(0, index + 1);
      const left = deadline - Date.now();
      if (this.#isGone || left <= 0) {
        throw new Error(
          `no ${type}; the agent ${this.#isGone ? 'is gone' : 'is silent'}: ${JSON.stringify(this.#messages)} ${this.#stderr}`,
        );
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}

/** Processes that a process has started, and theirs. */
export function descendants(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || !existsSync(`/proc/${name}/stat`)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It ended meanwhile.
    }
  }
  const found = [pid];
  for (const ancestor of found) for (const [child, parent] of parents) if (parent === ancestor) found.push(child);
  return found.slice(1);
}

export { isAlive } from '../support/is-alive.ts';

/** As it was started; empty when it is gone. */
export function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
