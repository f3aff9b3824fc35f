import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventLog, openEventLog } from '@concerto/log';
import { createSession, entry, eventsPerTick, finish, ourFanOut, serveLog, startReaders, ticksFor } from './fan-out.ts';
import { compare, type Row } from './row.ts';

export const name = 'server: fan-out and replay over SSE';

const ours = { path: '/api/sessions/bench/events' };
const replayed = 100_000;
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
        { ours: () => ourFanOut(readers, ours), reference: () => plainFanOut(readers) },
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
          { ours: () => ourFanOut(readers, ours), reference: () => peerFanOut(open, readers) },
        ),
      );
    }
  }
  return rows;
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
  const clients = startReaders(
    typeof address === 'object' && address !== null ? address.port : 0,
    { path: '/' },
    readers,
  );
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
  const clients = startReaders(peer.port, peer, readers);
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
  const replay = (): Promise<number> => replayRate(server.port, `/api/sessions/${session}/events`, replayed);
  const rows = [
    await compare(
      { name: 'replay of 100k events over SSE', unit: 'events/s', target: '>= 0.50' },
      { ours: replay, reference: () => pagedRead(log, session) },
    ),
  ];
  if (peers !== undefined) {
    const peer = await peers.durableStreams(join(folder, 'peer'));
    for (let done = 0; done < replayed; done += page.length) await peer.publish(page.map(({ data }) => data));
    await peer.finish();
    rows.push(
      await compare(
        { name: 'replay over SSE, against Durable Streams on files', unit: 'events/s', target: '>= 10' },
        { ours: replay, reference: () => replayRate(peer.port, peer.path, replayed) },
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
  const clients = startReaders(port, { path }, 1);
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
