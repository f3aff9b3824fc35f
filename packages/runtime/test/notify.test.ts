import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogError, memoryEventLog } from '@concerto/log';
import type { OverviewEvent } from '@concerto/protocol';
import { afterEach, expect, test } from 'vitest';
import { Notifier, type NotifierOptions, systemClock } from '../src/index.ts';
import { isPrivateAddress } from '../src/network/private-address.ts';
import { overviewStream } from '../src/overview/overview.ts';
import { settle, VirtualClock } from './virtual-clock.ts';

type Got = { readonly headers: IncomingHttpHeaders; readonly body: string; readonly path: string };

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Answers with each status in turn, the last for ever. */
async function receiver(...statuses: readonly (number | string)[]): Promise<{ url: string; got: Got[] }> {
  const got: Got[] = [];
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      got.push({ headers: request.headers, body, path: request.url ?? '' });
      const answer = statuses[Math.min(got.length, statuses.length) - 1] ?? 200;
      if (typeof answer === 'number') response.writeHead(answer).end();
      else response.writeHead(307, { location: answer }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port has one
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, got };
}

const secret = 'a secret of the receiver';
const log = () => memoryEventLog({ now: Date.now });
type Log = ReturnType<typeof log>;

function open(store: Log, more: Partial<NotifierOptions>): Notifier {
  const kinds = new Set(['request', 'failed', 'budget'] as const);
  const notifier = new Notifier({
    log: store,
    clock: systemClock,
    report: () => {},
    name: 'one',
    afterMs: 0,
    kinds,
    ...more,
  });
  closing.push(() => notifier.close());
  return notifier;
}

async function tell(store: Log, ...events: readonly OverviewEvent[]): Promise<void> {
  const at = new Date().toISOString();
  const entries = events.map((event) => ({ type: event.type, data: JSON.stringify({ ...event, at }) }));
  await store.append({ session: overviewStream, streams: [{ stream: 'events', entries }] });
}

const asks = (requestId: string, consentType = 'approval'): OverviewEvent => ({
  type: 'request',
  session: 's1',
  requestId,
  request: { type: 'queryConsent', requestId, consentType, scope: { description: 'Delete it?' }, graphUrl: '' },
});
const settled = (requestId: string): OverviewEvent => ({
  type: 'requestSettled',
  session: 's1',
  requestId,
  outcome: 'answered',
});
const failedRow = (id: string): OverviewEvent => ({
  type: 'session',
  summary: {
    id,
    title: 'A task',
    kind: 'agent',
    agent: 'demo',
    status: 'failed',
    turn: 1,
    createdAt: new Date().toISOString(),
    updatedAt: new Date().toISOString(),
    pending: 0,
    usage: { inputTokens: 0, outputTokens: 0 },
    position: 3,
    reason: 'it broke',
  },
});

const hook = (url: string, allowPrivate: readonly string[] = []) => ({ webhook: { url, secret, allowPrivate } });
const ids = (got: readonly Got[]): readonly string[] => got.map(({ headers }) => String(headers['webhook-id']));
/** The first one begins with what comes after it. */
async function begun(store: Log): Promise<void> {
  await expect.poll(() => store.getDocument('notify', 'state')).toBeDefined();
}

test('a store that fails while the stream is read costs no notice, and is not asked again and again', async () => {
  const { url, got } = await receiver(200);
  const store = log();
  const clock = new VirtualClock(Date.now());
  let failures = 0;
  let fails = false;
  const failing = <Args extends readonly unknown[], T>(call: (...args: Args) => Promise<T>) => {
    return async (...args: Args): Promise<T> => {
      if (!fails) return await call(...args);
      failures++;
      throw new LogError('unavailable', 'the store is away');
    };
  };
  const away = {
    ...store,
    read: failing((request: Parameters<Log['read']>[0]) => store.read(request)),
    renewLease: failing((request: Parameters<Log['renewLease']>[0]) => store.renewLease(request)),
  };
  open(away, { ...hook(url), clock });
  clock.pass(0);
  await begun(store);
  await settle();
  fails = true;
  await tell(store, asks('r1'));
  for (let moment = 0; moment < 50; moment++) {
    clock.pass(1);
    await settle(3);
  }
  expect(failures).toBe(1);
  fails = false;
  clock.pass(10_000);
  await expect.poll(() => ids(got)).toEqual(['request/s1/r1']);
});

test('what could not be read of the stream is read later, also where nothing more happens', async () => {
  const { url, got } = await receiver(200);
  const store = log();
  const clock = new VirtualClock(Date.now());
  let fails = false;
  const read: typeof store.read = async (request) => {
    if (fails) throw new LogError('unavailable', 'the store is away');
    return await store.read(request);
  };
  open({ ...store, read }, { ...hook(url), clock });
  clock.pass(0);
  await begun(store);
  await settle();
  fails = true;
  await tell(store, asks('r1'));
  clock.pass(1);
  await settle();
  fails = false;
  clock.pass(10_000);
  await expect.poll(() => ids(got)).toEqual(['request/s1/r1']);
});

test('what is sent is signed, and says what it is about', async () => {
  const { url, got } = await receiver(200);
  const store = log();
  open(store, { ...hook(url), address: 'http://127.0.0.1:4242' });
  await begun(store);
  await tell(store, asks('r1'), failedRow('s2'));
  await expect.poll(() => got.length).toBe(2);
  const [first, second] = got;
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = first?.headers ?? {};
  const signed = createHmac('sha256', secret)
    .update(`${String(id)}.${String(at)}.${first?.body}`)
    .digest('base64');
  expect(signature).toBe(`v1,${signed}`);
  expect([JSON.parse(first?.body ?? ''), JSON.parse(second?.body ?? '')]).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        type: 'request',
        session: 's1',
        requestId: 'r1',
        detail: 'Delete it?',
        url: 'http://127.0.0.1:4242/sessions/s1',
      }),
      expect.objectContaining({ type: 'failed', session: 's2', title: 'A task', detail: 'it broke' }),
    ]),
  );
});

test('a restart neither leaves out nor repeats, whatever was said meanwhile', async () => {
  const { url, got } = await receiver(200);
  const store = log();
  const first = open(store, hook(url));
  await begun(store);
  await tell(store, asks('r1'));
  await expect.poll(() => got.length).toBe(1);
  await first.close();
  await tell(store, asks('r2'), failedRow('s9'), asks('r3'), settled('r3'));
  const second = open(store, hook(url));
  await expect.poll(() => got.length).toBe(3);
  await tell(store, failedRow('s9'), asks('r4', 'budget'));
  await expect.poll(() => got.length).toBe(4);
  await second.close();
  expect(ids(got).toSorted()).toEqual(['budget/s1/r4', 'failed/s9', 'request/s1/r1', 'request/s1/r2']);
});

test('a request that is answered in time is told to nobody; of two servers one tells', async () => {
  const { url, got } = await receiver(200);
  const store = log();
  open(store, { ...hook(url), afterMs: 150 });
  open(store, { ...hook(url), afterMs: 150, name: 'two' });
  await begun(store);
  await tell(store, asks('r1'), settled('r1'), asks('r2'));
  await expect.poll(() => got.length).toBe(1);
  expect(ids(got)).toEqual(['request/s1/r2']);
});

test('what was not taken is tried again, and given up when that is no use', async () => {
  const again = await receiver(500, 200);
  const never = await receiver(404);
  for (const [{ url, got }, count] of [
    [again, 2],
    [never, 1],
  ] as const) {
    const store = log();
    open(store, hook(url));
    await begun(store);
    await tell(store, asks('r1'));
    await expect.poll(() => got.length, { timeout: 10_000 }).toBe(count);
    await expect
      .poll(async () => JSON.parse((await store.getDocument('notify', 'state'))?.value ?? '{}').owed, {
        timeout: 10_000,
      })
      .toEqual([]);
  }
});

test('nobody is sent on to a private host, unless it is listed', async () => {
  const target = await receiver(200);
  for (const [listed, count] of [
    [[], 0],
    [['127.0.0.1'], 1],
  ] as const) {
    const { url, got } = await receiver(target.url);
    const store = log();
    open(store, hook(url, listed));
    await begun(store);
    await tell(store, asks('r1'));
    await expect.poll(() => got.length).toBe(1);
    await expect
      .poll(async () => JSON.parse((await store.getDocument('notify', 'state'))?.value ?? '{}').owed)
      .toEqual([]);
    expect(target.got).toHaveLength(count);
  }
});

test.each([
  '127.0.0.1',
  '10.1.2.3',
  '172.20.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '::1',
  'fd00::1',
  'fe80::1',
  '::ffff:10.0.0.1',
  'x',
])('%s is private', (address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

test('a command gets it as a line on its input', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'concerto-notify-'));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  const store = log();
  const script = 'require("fs").writeFileSync("told", process.env.CONCERTO_NOTICE + require("fs").readFileSync(0))';
  open(store, { command: { command: process.execPath, args: ['-e', script], directory: folder } });
  await begun(store);
  await tell(store, asks('r1'));
  await expect
    .poll(() => readFile(join(folder, 'told'), 'utf8').catch(() => ''), { timeout: 10_000 })
    .toContain('Delete it?');
});
