import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type EventLog, openEventLog } from '@concerto/log';
import { encodeEvent, textContent } from '@concerto/protocol';
import { catalogOf, PoolKeeper, RuleBook, SessionStore, Sessions, systemClock } from '@concerto/runtime';
import { serve } from '@concerto/server';
import { compare, type Row } from './row.ts';

export const name = 'server: fan-out and replay over SSE';

const token = 'bench';
const eventsPerTick = 10;
/** Enough for each number of readers to take a while, and not so much that a thousand take minutes. */
const ticksFor = (readers: number): number => Math.ceil(3_000 / readers ** 0.6);
const replayed = 100_000;
const at = '2026-01-01T00:00:00.000Z';
const entry = { type: 'content', data: encodeEvent({ type: 'content', content: textContent('x'.repeat(200)) }, at) };
const finish = { type: 'finish', data: encodeEvent({ type: 'finish' }, at) };

/** Somebody else's event streams; `bench/peers/peers.mjs` makes them. */
type Peer = {
  readonly port: number;
  readonly path: string;
  publish(texts: readonly string[]): Promise<void>;
  finish(): Promise<void>;
  stop(): Promise<void>;
};
type Peers = { betterSse(): Promise<Peer>; durableStreams(dataDir?: string): Promise<Peer> };

export async function run(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const readers of [1, 100, 1_000]) {
    rows.push(
      await compare(
        { name: `fan-out to ${readers} readers`, unit: 'events/s', ...(readers === 1 ? {} : { target: '>= 0.70' }) },
        { ours: () => ourFanOut(readers), reference: () => plainFanOut(readers) },
      ),
    );
  }
  const peers = await installedPeers();
  if (peers !== undefined) rows.push(...(await peerRows(peers)));
  rows.push(...(await replayRows(peers)));
  return rows;
}

async function installedPeers(): Promise<Peers | undefined> {
  const folder = new URL('peers/', import.meta.url);
  return existsSync(new URL('node_modules/', folder)) ? await import(new URL('peers.mjs', folder).href) : undefined;
}

async function peerRows(peers: Peers): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const readers of [100, 1_000]) {
    for (const [name, open] of [
      ['better-sse', () => peers.betterSse()],
      ['Durable Streams in memory', () => peers.durableStreams()],
    ] as const) {
      rows.push(
        await compare(
          { name: `fan-out to ${readers} readers, against ${name}`, unit: 'events/s', target: '>= 4' },
          { ours: () => ourFanOut(readers), reference: () => peerFanOut(open, readers) },
        ),
      );
    }
  }
  return rows;
}

/** From `append` to the sockets: a memory log, our feed, one session. */
async function ourFanOut(readers: number): Promise<number> {
  const log = await openEventLog('memory:', { now: Date.now });
  const server = await serveLog(log);
  const session = 'bench';
  await createSession(log, session);
  const clients = startReaders(server.port, `/api/sessions/${session}/events`, readers);
  const ticks = ticksFor(readers);
  await clients.opened;
  const started = performance.now();
  for (let tick = 0; tick < ticks; tick++) {
    await log.append({
      session,
      streams: [{ stream: 'events', entries: Array.from({ length: eventsPerTick }, () => entry) }],
    });
    await new Promise(setImmediate);
  }
  await log.append({ session, streams: [{ stream: 'events', entries: [finish] }] });
  await clients.done;
  const seconds = (performance.now() - started) / 1000;
  await server.close();
  await log.close();
  return (ticks * eventsPerTick * readers) / seconds;
}

/** The least a Node server can do: one write a tick and connection, encoded once, no store. */
async function plainFanOut(readers: number): Promise<number> {
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(': ping\n\n');
    responses.push(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const clients = startReaders(typeof address === 'object' && address !== null ? address.port : 0, '/', readers);
  const ticks = ticksFor(readers);
  await clients.opened;
  const started = performance.now();
  let position = 0;
  for (let tick = 0; tick < ticks; tick++) {
    let text = '';
    for (let event = 0; event < eventsPerTick; event++) text += `id: ${++position}\ndata: ${entry.data}\n\n`;
    const bytes = Buffer.from(text);
    for (const response of responses) response.write(bytes);
    await new Promise(setImmediate);
  }
  for (const response of responses) response.end();
  await clients.done;
  const seconds = (performance.now() - started) / 1000;
  server.close();
  return (ticks * eventsPerTick * readers) / seconds;
}

async function peerFanOut(open: () => Promise<Peer>, readers: number): Promise<number> {
  const peer = await open();
  const clients = startReaders(peer.port, peer.path, readers);
  const ticks = ticksFor(readers);
  await clients.opened;
  const started = performance.now();
  for (let tick = 0; tick < ticks; tick++) {
    await peer.publish(Array.from({ length: eventsPerTick }, () => entry.data));
    await new Promise(setImmediate);
  }
  await peer.finish();
  await clients.done;
  const seconds = (performance.now() - started) / 1000;
  await peer.stop();
  return (ticks * eventsPerTick * readers) / seconds;
}

async function replayRows(peers: Peers | undefined): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-bench-'));
  const log = await openEventLog(`sqlite:${join(folder, 'store.db')}`, { now: Date.now });
  const session = 'bench';
  await createSession(log, session);
  const page = Array.from({ length: 1_000 }, () => entry);
  for (let done = 0; done < replayed; done += page.length) {
    await log.append({ session, streams: [{ stream: 'events', entries: page }] });
  }
  await log.append({ session, streams: [{ stream: 'events', entries: [finish] }] });
  const server = await serveLog(log);
  const ours = (): Promise<number> => replayRate(server.port, `/api/sessions/${session}/events`, replayed);
  const rows = [
    await compare(
      { name: 'replay of 100k events over SSE', unit: 'events/s', target: '>= 0.50' },
      { ours, reference: () => pagedRead(log, session) },
    ),
  ];
  if (peers !== undefined) {
    const peer = await peers.durableStreams(join(folder, 'peer'));
    for (let done = 0; done < replayed; done += page.length) await peer.publish(page.map(({ data }) => data));
    await peer.finish();
    rows.push(
      await compare(
        { name: 'replay over SSE, against Durable Streams on files', unit: 'events/s', target: '>= 10' },
        { ours, reference: () => replayRate(peer.port, peer.path, replayed) },
      ),
    );
    await peer.stop();
  }
  await server.close();
  await log.close();
  rmSync(folder, { recursive: true, force: true });
  return rows;
}

async function replayRate(port: number, path: string, events: number): Promise<number> {
  const clients = startReaders(port, path, 1);
  await clients.begun;
  const started = performance.now();
  await clients.done;
  return events / ((performance.now() - started) / 1000);
}

async function pagedRead(log: EventLog, session: string): Promise<number> {
  const started = performance.now();
  for (let after = 0; after < replayed; ) {
    const { entries } = await log.read({ session, stream: 'events', after, limit: 1_000 });
    after = entries.at(-1)?.position ?? replayed;
  }
  return replayed / ((performance.now() - started) / 1000);
}

async function serveLog(log: EventLog): Promise<Awaited<ReturnType<typeof serve>>> {
  const report = (message: string, cause?: unknown): void => console.error(message, cause);
  const store = new SessionStore(log);
  const clock = systemClock;
  const pool = new PoolKeeper({ log, store, clock, report, initialMax: 20 });
  const mintId = (prefix: string): string => prefix;
  const rules = new RuleBook({ log, catalog: catalogOf([]), mintId });
  const sessions = new Sessions({ log, store, pool, rules, catalog: catalogOf([]), clock, mintId });
  return await serve({
    host: '127.0.0.1',
    port: 0,
    sessions,
    log,
    programs: { list: () => [], source: () => undefined },
    inlineTools: { mode: 'off' },
    guard: { token, hosts: [] },
    version: 'bench',
    webRoot: undefined,
    report,
  });
}

async function createSession(log: EventLog, session: string): Promise<void> {
  const created = {
    type: 'created',
    at: 0,
    actor: 'user',
    sessionId: session,
    kind: 'agent',
    agent: 'none',
    title: 'bench',
    once: true,
    slot: 'wanted',
  };
  await log.append({
    session,
    streams: [{ stream: 'domain', entries: [{ type: 'created', data: JSON.stringify(created) }] }],
  });
}

function startReaders(
  port: number,
  path: string,
  readers: number,
): { readonly begun: Promise<void>; readonly opened: Promise<void>; readonly done: Promise<void> } {
  const script = join(import.meta.dirname, 'sse-readers.mjs');
  const child: ChildProcess = spawn(process.execPath, [script, String(port), path, String(readers), token], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let begin: () => void = () => {};
  let open: () => void = () => {};
  let finish: () => void = () => {};
  // The reader's own start is not what is measured.
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  if (child.stdout !== null) {
    createInterface(child.stdout).on('line', (line) => {
      if (line === 'begin') begin();
      else if (line === 'open') open();
      else finish();
    });
  }
  return { begun, opened, done: done.finally(() => child.kill()) };
}
