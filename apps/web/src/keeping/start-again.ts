import { type LlmContent, LlmContent as LlmContentShape, type Session } from '@concerto/protocol';
import { client } from '../client.ts';
import { againRequest } from './again-request.ts';

/** The first turn begins among the first events. */
const soughtEvents = 50;

/** The same task with the same settings, from the beginning. Undefined when nothing says what the task was. */
export async function startAgain(session: Session): Promise<Session | undefined> {
  const { perSession } = await client.agent(session.id);
  const request = againRequest(session, await objectiveOf(session.id), perSession);
  return request === undefined ? undefined : await client.start(request);
}

async function objectiveOf(id: string): Promise<LlmContent | undefined> {
  const { events } = await client.events(id, { after: 0, limit: soughtEvents });
  const begun = events.find(({ type }) => type === 'start');
  const parsed = LlmContentShape.safeParse(begun?.objective);
  return parsed.success ? parsed.data : undefined;
}
