import { type EventPage, SessionFold } from '@concerto/protocol';
import { client } from '../client.ts';
import { sessionMarkdown } from './session-markdown.ts';

const pageMax = 1000;

/** The whole session as a file: a document to read, or its events as they are stored. */
export async function exportSession(id: string, title: string, form: 'markdown' | 'json'): Promise<void> {
  if (form === 'json') {
    const session = await client.get(id);
    return save(`${id}.json`, 'application/json', JSON.stringify({ session, events: await allEvents(id) }, null, 2));
  }
  const fold = new SessionFold();
  const leave = new AbortController();
  const { position } = await client.get(id);
  for await (const event of client.follow(id, { signal: leave.signal })) {
    fold.take(event);
    // It may never end; what is there now is what is wanted.
    if (event.seq >= position) break;
  }
  leave.abort();
  save(`${id}.md`, 'text/markdown', sessionMarkdown(title, fold.view));
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
