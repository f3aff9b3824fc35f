import { resolve } from 'node:path';
import { readAgentTable } from '@concerto/protocol';
import type { AgentSpec } from './agent-connection.ts';
import { AgentError } from './agent-error.ts';

/** How to start the agent that a table of the manifest declares. Paths are relative to the folder. */
export function agentSpecOf(name: string, table: unknown, folder: string): AgentSpec {
  const read = readAgentTable(table);
  if (!read.ok) throw new AgentError('spawn-failed', `agent "${name}": ${read.error}`);
  const { protocol, command, args, env, working_dir: workingDir, params } = read.value;
  const { input_format: inputFormat, output_format: outputFormat, plain_text: plainText, accepts } = read.value;
  return {
    name,
    protocol,
    command,
    args,
    env,
    workingDir: resolve(folder, workingDir ?? '.'),
    ...(inputFormat === undefined ? {} : { inputFormat }),
    ...(outputFormat === undefined ? {} : { outputFormat }),
    ...(plainText === undefined ? {} : { plainText }),
    ...(accepts === undefined ? {} : { accepts }),
    ...(params === undefined ? {} : { params }),
  };
}
