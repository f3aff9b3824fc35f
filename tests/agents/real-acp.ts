import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentConnection, type AgentOutput, type StartOptions, startAgent } from '@concerto/agents';
import type { JsonObject } from '@concerto/base';
import type { WorkEvent } from '@concerto/protocol';
import {
  type Script,
  type ScriptedModelServer,
  startScriptedModelServer,
} from '../../packages/models/src/testing/scripted-model-server.ts';
import { onlyTheAgent, openPlace } from './real-claude.ts';

const answersWithinMs = 60_000;

/** A real agent of the protocol: its program, put there by `npm run test:agents`, with a model on loopback. */
export type RealAcp = {
  readonly model: ScriptedModelServer;
  readonly workDir: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
};

export async function openClaudeAcp(script: Script): Promise<RealAcp> {
  const place = await openPlace(script);
  return {
    ...place,
    command: process.env.CONCERTO_TEST_CLAUDE_ACP ?? '',
    args: [],
    // It brings a program of its own, which would be 350 MB once more.
    env: {
      ...place.env,
      CLAUDE_CODE_EXECUTABLE: process.env.CONCERTO_TEST_CLAUDE ?? '',
      ANTHROPIC_MODEL: 'claude-sonnet-4-5',
    },
  };
}

export async function openGemini(script: Script): Promise<RealAcp> {
  const model = await startScriptedModelServer(script);
  const home = await mkdtemp(join(tmpdir(), 'gemini-home-'));
  const workDir = await mkdtemp(join(tmpdir(), 'gemini-work-'));
  await mkdir(join(home, '.gemini'));
  const settings = {
    security: { auth: { selectedType: 'gemini-api-key' } },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    general: { enableAutoUpdate: false },
    tools: { shell: { enableInteractiveShell: false } },
  };
  await writeFile(join(home, '.gemini', 'settings.json'), JSON.stringify(settings));
  return {
    model,
    workDir,
    command: process.env.CONCERTO_TEST_GEMINI ?? '',
    args: ['--acp', '-m', 'gemini-2.5-flash'],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      GEMINI_CLI_HOME: home,
      GOOGLE_GEMINI_BASE_URL: model.url,
      GEMINI_API_KEY: 'scripted',
      GEMINI_CLI_NO_RELAUNCH: 'true',
      // In a folder that it does not trust it takes no servers, and does not say so.
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      GEMINI_TELEMETRY_ENABLED: 'false',
      GEMINI_FORCE_FILE_STORAGE: 'true',
    },
    close: async () => {
      await model.close();
      for (const folder of [home, workDir]) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Only where its program for one platform can be installed. */
export const openCode = process.env.CONCERTO_TEST_OPENCODE ?? '';

export async function openOpenCode(script: Script): Promise<RealAcp> {
  const model = await startScriptedModelServer(onlyTheAgent(script));
  const home = await mkdtemp(join(tmpdir(), 'opencode-home-'));
  const workDir = await mkdtemp(join(tmpdir(), 'opencode-work-'));
  const scripted = {
    name: 'Scripted',
    tool_call: true,
    attachment: true,
    modalities: { input: ['text', 'image'], output: ['text'] },
    limit: { context: 100_000, output: 4_000 },
  };
  const settings = {
    autoupdate: false,
    share: 'disabled',
    model: 'scripted/scripted',
    small_model: 'scripted/scripted',
    enabled_providers: ['scripted'],
    provider: {
      scripted: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Scripted',
        options: { baseURL: `${model.url}/v1`, apiKey: 'scripted' },
        models: { scripted },
      },
    },
    // As the guide has it.
    permission: { bash: 'ask', edit: 'ask' },
    agent: {
      general: { permission: { bash: 'deny', edit: 'deny' } },
      explore: { permission: { bash: 'deny' } },
    },
  };
  return {
    model,
    workDir,
    command: openCode,
    args: ['acp'],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      OPENCODE_CONFIG_CONTENT: JSON.stringify(settings),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_DISABLE_SHARE: '1',
      OPENCODE_PURE: '1',
      // It would look for a plugin otherwise.
      npm_config_registry: model.url,
    },
    close: async () => {
      await model.close();
      for (const folder of [home, workDir]) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export type Heard = {
  readonly agent: AgentConnection;
  /** Everything up to the next message of one of these types, which is the last one. */
  readonly until: (...types: readonly string[]) => Promise<JsonObject[]>;
  /** The events that a session would show beside, since the last time. */
  readonly shown: () => WorkEvent[];
};

/** The agent driven as the runtime drives it. */
export async function startReal(place: RealAcp, options: StartOptions = {}, params: JsonObject = {}): Promise<Heard> {
  const { command, args, env, workDir } = place;
  const agent = await startAgent(
    { name: 'real', protocol: 'acp', command, args, env, workingDir: workDir, params },
    { initTimeoutMs: answersWithinMs, ...options },
  );
  const batches = agent.output[Symbol.asyncIterator]();
  const waiting: AgentOutput[] = [];
  const events: WorkEvent[] = [];
  const next = async (): Promise<AgentOutput> => {
    while (waiting.length === 0) {
      const batch = await within(batches.next());
      if (batch.done === true) throw new Error('the agent is gone');
      waiting.push(...batch.value);
    }
    const [output] = waiting.splice(0, 1);
    if (output === undefined) throw new Error('nothing was said');
    return output;
  };
  return {
    agent,
    shown: () => events.splice(0),
    until: async (...types) => {
      const heard: JsonObject[] = [];
      for (;;) {
        const output = await next();
        if (output.kind === 'exit') throw new Error(`the agent is gone: ${output.error.message}`);
        if (output.kind !== 'message') continue;
        events.push(...(output.shown ?? []));
        heard.push(output.raw);
        if (types.includes(output.raw.type)) return heard;
      }
    },
  };
}

async function within<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the agent is silent')), answersWithinMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
