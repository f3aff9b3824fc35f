import type { AgentSpec } from './agent-connection.ts';
import { agentEnvironment } from './agent-environment.ts';
import { findCommand } from './find-command.ts';

/** What an agent's process is started from. */
export type AgentLaunch = {
  /** The program's own path. */
  readonly command: string;
  readonly workingDir: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Values that came by reference, to be struck out of anything we show. */
  readonly secrets: readonly string[];
};

const installs: Readonly<Record<string, string>> = {
  claude: 'npm install -g @anthropic-ai/claude-code',
  codex: 'npm install -g @openai/codex',
};

/** Finds the program and fills in the variables; throws `AgentError` where something is not there. Starts nothing. */
export async function agentLaunch(spec: AgentSpec): Promise<AgentLaunch> {
  const { variables, secrets } = agentEnvironment(spec.name, spec.env ?? {}, process.env);
  const workingDir = spec.workingDir ?? process.cwd();
  const command = await findCommand({
    agent: spec.name,
    command: spec.command,
    workingDir,
    path: variables.PATH ?? '',
    install: spec.command === spec.protocol ? installs[spec.command] : undefined,
  });
  return { command, workingDir, variables, secrets: [...secrets, ...(spec.secrets ?? [])] };
}
