import { dirname, resolve } from 'node:path';
import { compileProgram, type McpKnowledge, type McpToolShape } from '@concerto/language';
import { askMcpTools } from '@concerto/runtime/program';
import { type CheckedProgram, checkTarget, type Target } from './project.ts';
import { EXIT_INTERRUPTED, untilInterrupted } from './until-interrupted.ts';

/** Checks a program against the tools that the servers it declares really have. */
export async function checkWithServers(target: Target): Promise<CheckedProgram> {
  const before = checkTarget(target, 'unasked');
  // The errors of a program come before what a server has to say about it.
  if (before.hasErrors) return before;
  const interruption = untilInterrupted();
  try {
    const answers = await askMcpServers(before, interruption.signal);
    // Nobody waits for more; the servers have been ended.
    if (interruption.signal.aborted) process.exit(EXIT_INTERRUPTED);
    return checkTarget(target, answers);
  } finally {
    interruption.release();
  }
}

/** Asks every server the program declares, all at once. */
async function askMcpServers(checked: CheckedProgram, signal: AbortSignal): Promise<ReadonlyMap<string, McpKnowledge>> {
  const { program, facts, manifest, target } = checked;
  const { mcp } = compileProgram({ program, facts, manifest });
  const projectDirectory = target.manifest?.directory ?? dirname(resolve(target.entry));
  const answers = mcp.map(async (server): Promise<[string, McpKnowledge]> => {
    try {
      const tools = await askMcpTools(server, { environment: process.env, projectDirectory, signal });
      return [server.name, { kind: 'tools', tools: tools.map(toolShape) }];
    } catch (cause) {
      return [server.name, { kind: 'silent', problem: cause instanceof Error ? cause.message : String(cause) }];
    }
  });
  return new Map(await Promise.all(answers));
}

function toolShape({ parameters, ...tool }: Awaited<ReturnType<typeof askMcpTools>>[number]): McpToolShape {
  const isTable = typeof parameters === 'object' && parameters !== null;
  const more = isTable && 'additionalProperties' in parameters ? parameters.additionalProperties : undefined;
  return { ...tool, takesMore: more === true || (typeof more === 'object' && more !== null) };
}
