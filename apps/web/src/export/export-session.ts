import { type EventPage, type Session, SessionFold } from '@concerto/protocol';
import { client } from '../client.ts';
import { sessionMarkdown } from './session-markdown.ts';

const pageMax = 1000;

type Taken = Pick<Session, 'id' | 'title'>;

/** Whole sessions as one file: a document to read, or their events as they are stored. */
export async function exportSessions(sessions: readonly Taken[], form: 'markdown' | 'json'): Promise<void> {
  const [first] = sessions;
  if (first === undefined) return;
  const name = sessions.length === 1 ? first.id : `${sessions.length}-sessions`;
  if (form === 'markdown') {
    const texts = await inTurn(sessions, markdownOf);
    return save(`${name}.md`, 'text/markdown', texts.join('\n---\n\n'));
  }
  const whole = await inTurn(sessions, jsonOf);
  save(`${name}.json`, 'application/json', JSON.stringify(whole.length === 1 ? whole[0] : whole, null, 2));
}

async function inTurn<T>(sessions: readonly Taken[], read: (session: Taken) => Promise<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for (const session of sessions) found.push(await read(session));
  return found;
}

async function jsonOf({ id }: Taken): Promise<object> {
  return { session: await client.get(id), events: await allEvents(id) };
}

async function markdownOf({ id, title }: Taken): Promise<string> {
  const fold = new SessionFold();
  const leave = new AbortController();
  const { position } = await client.get(id);
  for await (const event of client.follow(id, { signal: leave.signal })) {
    fold.take(event);
    // It may never end; what is there now is what is wanted.
    if (event.seq >= position) break;
  }
  leave.abort();
  return sessionMarkdown(title, fold.view);
}

async function allEvents(id: string): Promise<EventPage['events']> {
  const events: EventPage['events'] = [];
  for (;;) {
    const page = await client.events(id, { after: events.at(-1)?.seq ?? 0, limit: pageMax });
    events.push(...page.events);
    if (!page.more || page.events.length === 0) return events;
  }
}

function save(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
