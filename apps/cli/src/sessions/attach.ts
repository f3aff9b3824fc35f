import { harmlessJson } from '@concerto/base';
import type { ConcertoClient, FollowedEvent } from '@concerto/client';
import { print, tell, write } from '../terminal/print.ts';
import type { Asked, Audience } from './audience.ts';
import { Narration, type Paper } from './narration.ts';
import { PersonAt } from './person-at.ts';

type AttachOptions = { readonly json: boolean };
/**
 * Shows a session live and, on a terminal, answers its questions. Returns the exit code: 0 when the session went
 * well, 1 when it failed. Ctrl-C leaves the session running.
 */
export async function attach(client: ConcertoClient, id: string, options: AttachOptions): Promise<number> {
  const leave = new AbortController();
  const onInterrupt = (): void => leave.abort();
  process.once('SIGINT', onInterrupt);
  const isPerson = process.stdin.isTTY && process.stdout.isTTY && !options.json;
  const audience = isPerson ? new PersonAt(client, id, leave) : readerOf(id, options);
  let failed = false;
  let wasCut = false;
  try {
    const onState = (state: { readonly kind: string }): void => {
      if (state.kind === 'waiting') tell('concerto: the connection was lost; trying again …\n');
    };
    // The position first: a question that is asked between the two calls is then after it, or among the open ones.
    const head = (await client.get(id)).position;
    const open = new Set((await client.requests(id)).requests.map((request) => request.requestId));
    for await (const event of client.follow(id, { signal: leave.signal, onState })) {
      audience.tell(event);
      if (event.type === 'requestSettled') audience.settled(event.requestId);
      if (event.type === 'error') failed = true;
      const isNow = event.seq >= head;
      if (event.type === 'turnComplete') wasCut = event.outcome === 'lost';
      if (event.type === 'status' && event.status === 'interrupted' && isNow) audience.interrupted(wasCut);
      if (event.type === 'status' && event.status === 'idle' && isNow && audience.rest()) {
        if ((await client.get(id)).pending === 0) break;
      }
      if (isSuspend(event) && (event.seq > head || open.has(event.requestId))) audience.ask(event);
    }
  } finally {
    audience.close();
    process.off('SIGINT', onInterrupt);
  }
  if (leave.signal.aborted && !options.json) {
    const total = audience.total();
    if (total !== undefined) print(`\n${total}`);
    print(`\nDetached; the session goes on. Back: concerto sessions attach ${id}`);
  }
  return failed ? 1 : 0;
}

/** A pipe or a file: everything as lines, and how to answer from elsewhere. */
function readerOf(id: string, { json }: AttachOptions): Audience {
  const fresh = (): void => undefined;
  const paper: Paper = { print, write, fresh, progress: undefined };
  const narration = new Narration(paper);
  return {
    tell: (event) => (json ? print(harmlessJson(event)) : narration.tell(event)),
    ask: ({ type }) => {
      if (!json)
        print(`  answer it: concerto sessions answer ${id} ${type === 'queryConsent' ? 'y|n|"why not"' : 'TEXT'}`);
    },
    settled: () => undefined,
    interrupted: (wasCut) => {
      if (json) return;
      print(`  ${wasCut ? 'its turn was cut' : 'interrupted'}: concerto sessions resume ${id} goes on`);
    },
    rest: () => !json,
    total: () => (json ? undefined : narration.totalText()),
    close: () => undefined,
  };
}

function isSuspend(event: FollowedEvent): event is Asked {
  return ['waitForInput', 'waitForChoice', 'queryConsent', 'readGraph', 'inspectNode', 'applyEdits'].includes(
    event.type,
  );
}
