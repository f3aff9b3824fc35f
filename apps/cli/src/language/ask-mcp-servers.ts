import { dirname, resolve } from 'node:path';
import { compileProgram, type McpKnowledge, type McpToolShape } from '@concerto/language';
import { askMcpTools } from '@concerto/runtime/program';
import type { CheckedProgram } from './project.ts';

/** Asks every server the program declares, all at once. A program with errors is not asked about: they come first. */
export async function askMcpServers(checked: CheckedProgram): Promise<ReadonlyMap<string, McpKnowledge>> {
  if (checked.hasErrors) return new Map();
  const { program, facts, manifest, target } = checked;
  const { mcp } = compileProgram({ program, facts, manifest });
  const projectDirectory = target.manifest?.directory ?? dirname(resolve(target.entry));
  const answers = mcp.map(async (server): Promise<[string, McpKnowledge]> => {
    try {
      const tools = await askMcpTools(server, { environment: process.env, projectDirectory });
      return [server.name, { kind: 'tools', tools: tools.map(toolShape) }];
    } catch (cause) {
      return [server.name, { kind: 'silent', problem: cause instanceof Error ? cause.message : String(cause) }];
    }
  });
  return new Map(await Promise.all(answers));
}

function toolShape({ name, params, parameters }: Awaited<ReturnType<typeof askMcpTools>>[number]): McpToolShape {
  const isTable = typeof parameters === 'object' && parameters !== null;
  const more = isTable && 'additionalProperties' in parameters ? parameters.additionalProperties : undefined;
  return { name, params, takesMore: more === true || (typeof more === 'object' && more !== null) };
}
