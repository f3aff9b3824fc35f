import type { EventLog } from '@concerto/log';
import { canGoOn, type SessionState } from '@concerto/session';
import * as z from 'zod';
import type { Catalog, CatalogEntry } from '../catalog.ts';
import { ProgramCode } from '../conducting/program-code.ts';

const pageEntries = 1_000;

const Named = z.looseObject({
  type: z.literal('subagentAddJson'),
  title: z.literal('conversation'),
  data: z.looseObject({ id: z.string() }),
});

/** The agent's own name of the session's conversation, as its last process gave it; its events hold it. */
export async function conversationOf(log: EventLog, session: string): Promise<string | undefined> {
  let name: string | undefined;
  for (let after = 0; ; ) {
    const page = await log.read({ session, stream: 'events', after, limit: pageEntries });
    for (const { type, data } of page.entries) {
      if (type !== 'subagentAddJson') continue;
      const event = Named.safeParse(JSON.parse(data));
      if (event.success) name = event.data.data.id;
    }
    const last = page.entries.at(-1)?.position;
    if (last === undefined || last >= page.head) return name;
    after = last;
  }
}

/** Whether a turn that was cut can go on: its next process is given the conversation. An assistant's is in the log. */
export async function canContinue(log: EventLog, state: SessionState | undefined): Promise<boolean> {
  if (state === undefined || !canGoOn(state)) return false;
  return state.kind === 'assistant' || (await conversationOf(log, state.id)) !== undefined;
}

/** What the session has cost: an agent that takes its conversation up bills the whole of it. */
export function spentBy(state: Pick<SessionState, 'usage'> | undefined): { readonly spentMicroUsd?: number } {
  const spent = state?.usage.costMicroUsd;
  return spent === undefined ? {} : { spentMicroUsd: spent };
}

/** The agent of a session: by its name, or as the code of the program that opened it declares it. */
export async function agentOfSession(
  { log, catalog }: { readonly log: EventLog; readonly catalog: Catalog },
  { agent, code }: Pick<SessionState, 'agent' | 'code'>,
): Promise<Extract<CatalogEntry, { kind: 'agent' }> | undefined> {
  if (code !== undefined) return await new ProgramCode(log).agentEntry(code, agent);
  const entry = catalog.find('agent', agent);
  return entry?.kind === 'agent' ? entry : undefined;
}
