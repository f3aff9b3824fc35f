import type { EventLog } from '@concerto/log';
import type { SessionState } from '@concerto/session';
import type { Catalog } from '../catalog.ts';
import { ProgramCode } from '../conducting/program-code.ts';
import { declaredAs } from '../conducting/program-sessions.ts';

type Ports = { readonly log: EventLog; readonly catalog: Catalog };

/** By which name rules know the agent of a session: one of a program is that of the manifest which its connector names. */
export async function ruledAs(
  { log, catalog }: Ports,
  { agent, code }: Pick<SessionState, 'agent' | 'code'>,
): Promise<string> {
  const program = code === undefined ? undefined : await new ProgramCode(log).get(code);
  return (program === undefined ? undefined : declaredAs(program.module, catalog, agent))?.name ?? agent;
}
