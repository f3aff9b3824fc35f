import { Readable } from 'node:stream';
import { memoryEventLog } from '@concerto/log';
import type { Rule } from '@concerto/protocol';
import {
  type CatalogEntry,
  catalogOf,
  PoolKeeper,
  RuleBook,
  SessionStore,
  Sessions,
  systemClock,
} from '@concerto/runtime';
import { createApp } from '../src/app.ts';
import type { AnsweredCall } from '../src/call-log.ts';
import { EventFeeds } from '../src/event-feeds.ts';
import type { InlineTools } from '../src/inline-tools.ts';
import { LogTails } from '../src/log-tails.ts';
import { OpenConnections } from '../src/open-connections.ts';
import { People } from '../src/people/people.ts';
import type { OnNode, ServerContext } from '../src/server-context.ts';
import type { Guard } from '../src/who-calls.ts';

export const token = 'a-token-of-some-length';

export type CallInit = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

export type CalledApp = {
  readonly context: ServerContext;
  /** What the operator was told. */
  readonly complaints: readonly string[];
  /** What the operator's log has of the calls. */
  readonly calls: readonly AnsweredCall[];
  /** Without a token. */
  readonly call: (path: string, init?: CallInit) => Promise<Response>;
  /** With it. */
  readonly ask: (path: string, init?: CallInit) => Promise<Response>;
  /** Itself, for whoever calls it through a socket. */
  readonly app: ReturnType<typeof createApp>;
  readonly close: () => Promise<void>;
};

const echo: CatalogEntry = {
  kind: 'agent',
  name: 'echo',
  spec: { name: 'echo', protocol: 'ndjson', command: 'cat', args: [], env: {}, workingDir: '.', plainText: 'result' },
};

/** The app over a store in memory, called without a socket; nothing runs the sessions. */
export function callApp(
  options: {
    readonly guard?: Partial<Guard>;
    readonly instance?: string;
    readonly inlineTools?: InlineTools;
    readonly webRoot?: string;
    readonly manifestSchema?: () => object;
    /** Of the manifest, for every agent. */
    readonly rules?: readonly Rule[];
  } = {},
): CalledApp {
  const log = memoryEventLog({ now: Date.now });
  const store = new SessionStore(log);
  const complaints: string[] = [];
  const calls: AnsweredCall[] = [];
  const report = (message: string): void => void complaints.push(message);
  const clock = systemClock;
  const pool = new PoolKeeper({ log, store, clock, report, initialMax: 1 });
  let minted = 0;
  const mintId = (prefix: string): string => {
    minted += 1;
    return `${prefix}_${minted}`;
  };
  const catalog = catalogOf([echo], options.rules);
  const context: ServerContext = {
    sessions: new Sessions({
      log,
      store,
      pool,
      rules: new RuleBook({ log, catalog, mintId }),
      catalog,
      clock,
      mintId,
      environment: { HOME: '/home' },
    }),
    log,
    feeds: new EventFeeds(log),
    tails: new LogTails(log),
    inlineTools: options.inlineTools ?? { mode: 'off' },
    guard: { token, hosts: [], ...options.guard },
    people: new People(log, options.instance ?? 'one'),
    programs: { list: () => [], source: async () => undefined },
    manifestSchema: options.manifestSchema ?? (() => ({ type: 'object' })),
    version: '1.2.3',
    webRoot: options.webRoot,
    onAnswered: (answered) => void calls.push(answered),
  };
  const app = createApp(context, report, new OpenConnections());
  const call = async (path: string, { method = 'GET', headers = {}, body }: CallInit = {}): Promise<Response> => {
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
    const sent = { host: '127.0.0.1:4242', ...headers };
    const set = new Headers();
    const outgoing = { setHeader: (name: string, value: string) => set.set(name, value) };
    const response = await app.request(path, { method, headers: sent }, { incoming: incomingOf(sent, text), outgoing });
    for (const [name, value] of set) response.headers.set(name, value);
    return response;
  };
  return {
    context,
    app,
    complaints,
    calls,
    call,
    ask: (path, init = {}) => call(path, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } }),
    close: async () => {
      context.feeds.close();
      context.tails.close();
      await log.close();
    },
  };
}

/** Bodies are read from Node's own request, so a call brings the part of it that is read. */
function incomingOf(
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
): OnNode['Bindings']['incoming'] {
  const stream = Readable.from(body === undefined ? [] : [Buffer.from(body)], { objectMode: false });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a readable with headers is all that is read of it
  return Object.assign(stream, { headers, complete: body === undefined }) as unknown as OnNode['Bindings']['incoming'];
}
