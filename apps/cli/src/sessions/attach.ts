import { createInterface } from 'node:readline';
import { harmless, harmlessJson } from '@concerto/base';
import { ClientError, type ConcertoClient, type FollowedEvent } from '@concerto/client';
import type { SuspendEvent } from '@concerto/protocol';
import { LiveScreen } from '../terminal/live-screen.ts';
import { paint } from '../terminal/paint.ts';
import { print, tell, write } from '../terminal/print.ts';
import { childrenText } from './connect.ts';
import { Narration, type Paper } from './narration.ts';
import { promptOf } from './response-of.ts';
import { obey } from './typed-lines.ts';

type AttachOptions = { readonly json: boolean };
type Asked = Extract<FollowedEvent, { requestId: string; type: SuspendEvent['type'] }>;

/** What an event is told to, and what asks. */
type Audience = {
  readonly tell: (event: FollowedEvent) => void;
  readonly ask: (event: Asked) => void;
  readonly settled: (requestId: string) => void;
  /** It was interrupted: how to go on. `wasCut` where its turn was lost with the agent. */
  readonly interrupted: (wasCut: boolean) => void;
  /** The session waits for the next message. True when nobody here can say it. */
  readonly rest: () => boolean;
  /** What it took so far, for whoever leaves before the end. */
  readonly total: () => string | undefined;
  readonly close: () => void;
};

/**
 * Shows a session live and, on a terminal, answers its questions. Returns the exit code: 0 when the session went
 * well, 1 when it failed. Ctrl-C leaves the session running.
 */
export async function attach(client: ConcertoClient, id: string, options: AttachOptions): Promise<number> {
  const leave = new AbortController();
  const onInterrupt = (): void => leave.abort();
  process.once('SIGINT', onInterrupt);
  const isPerson = process.stdin.isTTY && process.stdout.isTTY && !options.json;
  const audience = isPerson ? personAt(client, id, leave) : readerOf(id, options);
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
      if (event.type === 'requestSettled') audience.settled(event.requestId);
      audience.tell(event);
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

/** A person at a terminal: text goes on above what is being typed. */
function personAt(client: ConcertoClient, id: string, leave: AbortController): Audience {
  const input = createInterface({ input: process.stdin, output: process.stdout });
  const screen = new LiveScreen(input);
  const questions: Asked[] = [];
  const showPrompt = (): void => {
    const [first] = questions;
    screen.prompt(first === undefined ? '' : paint('bold', promptOf(first)));
  };
  const say = (text: string): void => screen.print(text);
  const typed = { client, id, question: () => questions[0], say, leave: () => leave.abort() };
  input.setPrompt('');
  input.on('SIGINT', () => leave.abort());
  const onClose = (): void => leave.abort();
  input.on('close', onClose);
  input.on('line', (line) => {
    obey(line.trim(), typed).catch((cause: unknown) => {
      // Somebody else was faster, it was withdrawn, or the server is away: the stream says how it goes on.
      const which = cause instanceof ClientError ? childrenText(cause) : '';
      say(paint('dim', `(${harmless(cause instanceof Error ? cause.message : String(cause))}${which})`));
    });
  });
  const narration = new Narration({
    print: say,
    write: (piece) => screen.write(piece),
    fresh: () => screen.fresh(),
    progress: (text) => screen.progress(text),
  });
  return {
    tell: (event) => narration.tell(event),
    ask: (event) => {
      questions.push(event);
      showPrompt();
    },
    settled: (requestId) => {
      const at = questions.findIndex((question) => question.requestId === requestId);
      if (at < 0) return;
      questions.splice(at, 1);
      showPrompt();
    },
    interrupted: (wasCut) => {
      screen.progress(undefined);
      const how = wasCut
        ? 'its turn was cut: /resume takes its conversation up where that can be loaded, /again says its message once more'
        : 'type the next message, /resume goes on with what is queued, /again says the last message once more';
      say(paint('dim', `  ${how}`));
    },
    rest: () => {
      screen.progress(undefined);
      say(paint('dim', '  type the next message, /help, or leave with Ctrl-C'));
      return false;
    },
    total: () => narration.totalText(),
    close: () => {
      // By name: it has listeners of its own there, without which it goes on hearing what is typed after us.
      input.off('close', onClose);
      screen.end();
      input.close();
    },
  };
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
