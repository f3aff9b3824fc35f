import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentSpec, startAgent } from '@concerto/agents';
import type { JsonObject } from '@concerto/base';
import { afterEach, describe, expect, test } from 'vitest';
import type { Script } from '../../packages/models/src/testing/scripted-model-server.ts';
import { builtConcerto } from '../support/built-concerto.ts';
import { openClaudeAcp, openCode, openGemini, openOpenCode } from './real-acp.ts';
import { claude, openPlace, type Place } from './real-claude.ts';
import { codex, openCodexPlace } from './real-codex.ts';

const timeout = 180_000;
const command = 'echo hello > out.txt';
const described = { command, description: 'Write out.txt' };

type Opened = { readonly place: Pick<Place, 'workDir' | 'close'>; readonly spec: Partial<AgentSpec> };

async function acp(open: typeof openGemini, script: Script): Promise<Opened> {
  const place = await open(script);
  return { place, spec: { protocol: 'acp', command: place.command, args: place.args, env: place.env } };
}

/** How each model asks for the same command, and a model and a mode that its program knows. */
const agents = [
  {
    name: 'Claude Code',
    tool: { tool: 'Bash', arguments: described },
    settings: { model: 'opus', mode: 'plan', effort: 'low' },
    open: async (script: Script): Promise<Opened> => {
      const place = await openPlace(script);
      const params = { model: 'claude-sonnet-4-5', setting_sources: [] };
      return { place, spec: { protocol: 'claude', command: claude, env: place.env, params } };
    },
  },
  {
    name: 'Codex',
    tool: { tool: 'exec_command', arguments: { cmd: command } },
    settings: { mode: 'on-request', effort: 'low' },
    open: async (script: Script): Promise<Opened> => {
      const place = await openCodexPlace(script);
      return { place, spec: { protocol: 'codex', command: codex, env: place.env } };
    },
  },
  {
    name: 'Gemini CLI',
    tool: { tool: 'run_shell_command', arguments: described },
    settings: { mode: 'autoEdit' },
    open: (script: Script) => acp(openGemini, script),
  },
  {
    name: 'Claude over ACP',
    tool: { tool: 'Bash', arguments: described },
    settings: { mode: 'plan' },
    open: (script: Script) => acp(openClaudeAcp, script),
  },
  ...(openCode === ''
    ? []
    : [
        {
          name: 'OpenCode',
          tool: { tool: 'bash', arguments: described },
          settings: { mode: 'plan' },
          open: (script: Script) => acp(openOpenCode, script),
        },
      ]),
];

let opened: Opened;

afterEach(async () => {
  await opened.place.close();
});

describe.each(agents)('the same words of the real $name', ({ open, tool, settings }) => {
  test('a listen hears approvals and tool calls as those of any other', { timeout }, async () => {
    opened = await open([[{ text: 'Writing.' }, tool], 'I did not.']);
    const { workDir } = opened.place;
    await mkdir(join(workDir, 'src'));
    await writeFile(join(workDir, 'Concerto.toml'), manifest(opened.spec));
    await writeFile(join(workDir, 'src/main.conc'), program);
    const { stdout, stderr } = await builtConcerto(['run'], workDir);
    expect(stderr).not.toContain('error');
    const heard = (what: string): JsonObject =>
      JSON.parse(new RegExp(`\\[emit:${what}\\] (.*)`).exec(stdout)?.[1] ?? '{}');
    expect(heard('approval')).toMatchObject({ kind: 'execute', command, risk: 'high', allows: true });
    expect(heard('call')).toMatchObject({ kind: 'execute' });
    expect(existsSync(join(workDir, 'out.txt'))).toBe(false);
  });

  test('it is switched while it runs', { timeout }, async () => {
    opened = await open(['Never asked.']);
    const spec = { name: 'real', command: '', workingDir: opened.place.workDir, ...opened.spec };
    const agent = await startAgent(spec, { initTimeoutMs: 60_000 });
    try {
      await agent.configure?.(settings);
      await expect(agent.configure?.({ mode: 'no-such-mode' })).rejects.toThrow(/mode/i);
    } finally {
      await agent.end();
    }
  });
});

function manifest({ protocol, command: program, args = [], env = {}, params = {} }: Partial<AgentSpec>): string {
  const table = (values: object): string =>
    Object.entries(values)
      .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
      .join('\n');
  return [
    table({}),
    '[project]\nname = "heard"\nversion = "0.1.0"\nentry = "src/main.conc"',
    `[agents.coder]\n${table({ protocol, command: program, args, init_timeout: 60 })}`,
    `[agents.coder.env]\n${table(env)}`,
    `[agents.coder.params]\n${table(params)}`,
  ].join('\n');
}

const program = `
agent Coder { connector: coder, timeout: 100 }

fn main() -> Result<Nil, Error> {
    let result = listen Coder.execute("Write out.txt") {
        "tool_call" => |call: ToolCall| {
            emit("call", std::json::stringify({"name": call.name, "kind": call.kind}));
        },
        "approval" => |request: Approval| {
            let allows = std::json::stringify(request).contains("allow_once");
            emit("approval", std::json::stringify({
                "kind": request.kind, "command": request.command, "risk": request.risk_level, "allows": allows,
            }));
            "no, not today"
        },
        _ => |_| {},
    };
    Ok(nil)
}
`;
