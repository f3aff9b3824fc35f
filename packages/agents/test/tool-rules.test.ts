import type { ToolRules } from '@concerto/protocol';
import { describe, expect, test } from 'vitest';
import type { AgentOutput, AgentSpec } from '../src/index.ts';
import { kindOf, rawOf, reader, start } from './start.ts';

/** Each of them runs a command: it asks first, does not, or never tells the end. */
const drivers = [
  { name: 'Claude Code', behaviour: 'claude', protocol: 'claude', own: 'Bash', other: 'shell' },
  { name: 'Codex', behaviour: 'codex', protocol: 'codex', own: 'shell', other: 'Bash' },
  { name: 'OpenCode', behaviour: 'acp', protocol: 'acp', args: ['as:OpenCode'], own: 'bash', other: 'exec_command' },
  {
    name: 'Gemini CLI',
    behaviour: 'acp',
    protocol: 'acp',
    args: ['as:gemini-cli'],
    own: 'run_shell_command',
    other: 'Bash',
  },
  {
    name: 'Claude over ACP',
    behaviour: 'acp',
    protocol: 'acp',
    args: ['as:claude-agent-acp'],
    own: 'Bash',
    other: 'shell',
  },
] as const;

describe.each(drivers)("the session's rules with $name", ({ behaviour, protocol, own, other, ...driver }) => {
  async function end(tools: ToolRules | undefined, prompt: string): Promise<{ asked: number; end: object }> {
    const spec: Partial<AgentSpec> = {
      protocol,
      ...('args' in driver ? { args: driver.args } : {}),
      ...(tools === undefined ? {} : { params: { tools: JSON.parse(JSON.stringify(tools)) } }),
    };
    const agent = await start(behaviour, spec);
    const output = reader(agent);
    await agent.prompt({ text: prompt });
    let asked = 0;
    for (;;) {
      const item: AgentOutput = await output.next();
      if (kindOf(item) === 'approval') {
        asked++;
        const { id } = rawOf<{ id: string }>(item);
        await agent.reply({ inReplyTo: 'approval', inReplyToId: id, value: 'yes' });
      }
      if (['result', 'error', 'exit'].includes(kindOf(item))) return { asked, end: rawOf<object>(item) };
    }
  }

  test.each<[string, ToolRules | undefined, number, string]>([
    ['denied by its own name: refused, and nobody is asked', { deny: [own] }, 0, 'refused'],
    ['denied by the name that others have for it', { deny: [other] }, 0, 'refused'],
    ['denied in other letters', { deny: [own.toUpperCase()] }, 0, 'refused'],
    ['denied by a pattern', { deny: [`${own.slice(0, 3)}*`] }, 0, 'refused'],
    ['denied and allowed: denied', { allow: [own], deny: [own] }, 0, 'refused'],
    ['not among those allowed', { allow: ['Read'] }, 0, 'refused'],
    ['among those allowed: asked for as ever', { allow: [own] }, 1, 'ran'],
    ['to be asked for', { ask: [own] }, 1, 'ran'],
    ['another is denied', { deny: ['web_search'] }, 1, 'ran'],
    ['no rules', undefined, 1, 'ran'],
  ])('a command that it asks for, %s', async (_what, tools, asked, text) => {
    expect(await end(tools, 'asks')).toMatchObject({ asked, end: { type: 'result', text } });
  });

  test.each<[string, ToolRules, string]>([
    ['denied', { deny: [own] }, 'sneaks'],
    ['to be asked for', { ask: [own] }, 'sneaks'],
    ['not among those allowed', { allow: ['Read'] }, 'sneaks'],
    ['denied, and never ends', { deny: [own] }, 'lingers'],
  ])('a command that it does not ask for, %s: the turn is stopped and says why', async (_what, tools, prompt) => {
    expect(await end(tools, prompt)).toMatchObject({
      asked: 0,
      end: { type: 'error', code: 'tool_forbidden', message: expect.stringContaining(own) },
    });
  });
});

test('an agent that never tells the names of its tools is not started under rules that it could break', async () => {
  const spec = (tools: ToolRules): Partial<AgentSpec> => ({
    protocol: 'acp',
    args: ['as:codex-acp'],
    params: { tools: JSON.parse(JSON.stringify(tools)) },
  });
  await expect(start('acp', spec({ deny: ['shell'] }))).rejects.toMatchObject({
    code: 'init-refused',
    message: expect.stringContaining('cannot be held'),
  });
  await expect(start('acp', spec({}))).resolves.toBeDefined();
});
