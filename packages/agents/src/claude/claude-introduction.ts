import type { Json } from '@concerto/base';
import { ClaudeIntroduction, type ClaudeParams } from '@concerto/protocol';
import type { AgentOutput } from '../agent-connection.ts';
import { agentInfo } from '../driver-output.ts';

const howToLogIn = 'run `claude` in a terminal and log in, or give it ANTHROPIC_API_KEY in its `env`';

/** What the program says of itself when it begins, and what it offers. */
export type ClaudeBeginning = {
  readonly version: string | undefined;
  /** It asks before it uses a tool; false where it says that it does not. */
  readonly asksFirst: boolean;
  /** What to do before it can work; empty when nothing is. */
  readonly login: string;
  readonly info: AgentOutput;
};

export function claudeBeginning(
  answer: Json,
  { effort, model }: ClaudeParams,
  known: string | undefined,
): ClaudeBeginning | undefined {
  const parsed = ClaudeIntroduction.safeParse(answer);
  if (!parsed.success) return undefined;
  const { commands = [], models = [], account, hooks_applied: isAsked, current_permission_mode: mode } = parsed.data;
  const version = parsed.data.claude_code_version ?? known;
  const isStranger = account?.tokenSource === 'none' && (account.apiKeySource ?? 'none') === 'none';
  const login = isStranger ? howToLogIn : '';
  const info = agentInfo({
    models: models.map(({ value: id, displayName: name, description }) => ({ id, ...named(name, description) })),
    commands: commands.map(({ name, description, argumentHint: hint }) => ({
      name,
      ...(description === undefined ? {} : { description }),
      ...(hint === undefined || hint === '' ? {} : { hint }),
    })),
    modes: ['default', 'acceptEdits', 'plan', 'dontAsk'].map((id) => ({ id })),
    ...(mode === undefined ? {} : { mode }),
    efforts: ['low', 'medium', 'high', 'xhigh', 'max'].map((id) => ({ id })),
    ...(effort === undefined ? {} : { effort }),
    ...(model === undefined ? {} : { model }),
    ...(version === undefined ? {} : { version }),
    ...(account === undefined ? {} : { login, extra: { account: JSON.parse(JSON.stringify(account)) } }),
  });
  return { version, asksFirst: isAsked !== false, login, info };
}

function named(name: string | undefined, description: string | undefined) {
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
  };
}
