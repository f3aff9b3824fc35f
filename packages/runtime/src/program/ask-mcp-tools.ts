import type { Json } from '@concerto/base';
import type { McpSignature } from '@concerto/models';
import type { ProgramWorld } from './program-world.ts';

/** For starting or reaching a server and hearing what it has. */
const DEADLINE_MS = 20_000;

/** Starts or reaches an MCP server, asks which tools it has, and ends it. Rejects with the reason as its message. */
export async function askMcpTools(
  server: { readonly name: string; readonly config: { readonly [key: string]: Json } },
  place: Pick<ProgramWorld, 'environment' | 'projectDirectory'> & { readonly signal: AbortSignal },
): Promise<readonly McpSignature[]> {
  const { askMcpSignatures } = await import('@concerto/models');
  const late = AbortSignal.timeout(DEADLINE_MS);
  const signal = AbortSignal.any([late, place.signal]);
  try {
    const { environment, projectDirectory: directory } = place;
    return await askMcpSignatures(server.name, server.config, { environment, directory, signal });
  } catch (cause) {
    if (!late.aborted) throw cause;
    throw new Error(`it did not answer within ${DEADLINE_MS / 1000} s`, { cause });
  }
}
