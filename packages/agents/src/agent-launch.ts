import { programOfProtocol } from '@concerto/base';
import type { AgentSpec } from './agent-connection.ts';
import { agentEnvironment } from './agent-environment.ts';
import { findCommand } from './find-command.ts';
import { sandboxPrefix } from './sandbox.ts';

/** What an agent's process is started from. */
export type AgentLaunch = {
  /** The agent's own program, by its path. */
  readonly program: string;
  /** What is started: the program and its arguments, behind its sandbox where it has one. */
  readonly argv: { readonly command: string; readonly args: readonly string[] };
  readonly workingDir: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Values that came by reference, to be struck out of anything we show. */
  readonly secrets: readonly string[];
};

/** Finds the program and fills in the variables; throws `AgentError` where something is not there. Starts nothing. */
export async function agentLaunch(spec: AgentSpec): Promise<AgentLaunch> {
  const { variables, secrets } = agentEnvironment(spec.name, spec.env ?? {}, process.env);
  const workingDir = spec.workingDir ?? process.cwd();
  const known = programOfProtocol(spec.protocol ?? 'ndjson');
  const program = await findCommand({
    agent: spec.name,
    command: spec.command,
    workingDir,
    path: variables.PATH ?? '',
    install: known?.command === spec.command ? known.install : undefined,
  });
  const prefix = spec.sandbox === undefined ? [] : await sandboxPrefix(spec.name, spec.sandbox, workingDir);
  const [command = program, ...args] = [...prefix, program, ...(spec.args ?? [])];
  return { program, argv: { command, args }, workingDir, variables, secrets: [...secrets, ...(spec.secrets ?? [])] };
}
