import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type EventLog, type NewEntry, openEventLog } from '@concerto/log';
import { encodeEvent, type PublicEvent, textContent } from '@concerto/protocol';
import { serve } from '@concerto/server';
import { openHouse } from './house.ts';

const token = 'bench';
const at = '2026-01-01T00:00:00.000Z';
export const eventsPerTick = 10;
/** Enough for each number of readers to take a while, and not so much that a thousand take minutes. */
export const ticksFor = (readers: number): number => Math.ceil(3_000 / readers ** 0.6);

function entryOf(event: PublicEvent): NewEntry {
  return { type: event.type, data: encodeEvent(event, at) };
}

export const entry = entryOf({ type: 'content', content: textContent('x'.repeat(200)) });
export const finish = entryOf({ type: 'finish' });
const start = entryOf({ type: 'start', objective: textContent('go') });

/** How a reader asks: `GET` unless there is a body. */
export type Asked = { readonly path: string; readonly body?: string };

/** From `append` to the sockets: a memory log, our feed, one session in the middle of a turn. */
export async function ourFanOut(readers: number, asked: Asked): Promise<number> {
  const log = await openEventLog('memory:', { now: Date.now });
  const server = await serveLog(log);
  const session = 'bench';
  await createSession(log, session);
  await log.append({ session, streams: [{ stream: 'events', entries: [start] }] });
  const clients = startReaders(server.port, asked, readers);
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

export async function serveLog(log: EventLog): Promise<Awaited<ReturnType<typeof serve>>> {
  const { house, sessions } = openHouse(log);
  return await serve({
    host: '127.0.0.1',
    port: 0,
    sessions,
    log,
    programs: { list: () => [], source: async () => undefined },
    inlineTools: { mode: 'off' },
    guard: { token, hosts: [] },
    version: 'bench',
    manifestSchema: () => ({}),
    webRoot: undefined,
    report: house.report,
  });
}

export async function createSession(log: EventLog, session: string): Promise<void> {
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

export function startReaders(
  port: number,
  { path, body = '' }: Asked,
  readers: number,
): { readonly begun: Promise<void>; readonly opened: Promise<void>; readonly done: Promise<void> } {
  const script = join(import.meta.dirname, 'sse-readers.mjs');
  const child: ChildProcess = spawn(process.execPath, [script, String(port), path, String(readers), token, body], {
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
