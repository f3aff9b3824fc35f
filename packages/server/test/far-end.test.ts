import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { FarEnds } from '../src/far-end.ts';

const open: (Server | Socket)[] = [];
afterEach(() => {
  for (const each of open.splice(0)) {
    if ('destroy' in each) each.destroy();
    else each.close();
  }
});

async function connected(host: string, listens = host): Promise<{ readonly near: Socket; readonly far: Socket }> {
  const server = createServer().listen(0, listens);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const far = connect(address.port, host);
  const [near]: Socket[] = await once(server, 'connection');
  if (near === undefined) throw new Error('no connection');
  if (far.connecting) await once(far, 'connect');
  open.push(server, near, far);
  return { near, far };
}

/** The number of the newest connection of this process to that port: the system tells it of descriptors alone. */
function inodeOf(socket: Socket): string {
  const handle: unknown = Reflect.get(socket, '_handle');
  const fd: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined;
  return /\[(\d+)\]/.exec(readlinkSync(`/proc/self/fd/${Number(fd)}`))?.[1] ?? '';
}

const nobodys = async (): Promise<ReadonlySet<string>> => new Set();

describe.runIf(process.platform === 'linux')('at the other end of a connection', () => {
  const own = { kind: 'here', account: String(process.getuid?.()) };

  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '::1'],
    ['127.0.0.1', '::'],
  ])('that came to %s, listening on %s, is an account of this machine', async (host, listens) => {
    const { near } = await connected(host, listens);
    expect(await new FarEnds(nobodys).of(near)).toEqual(own);
  });

  test('is an agent when one of them holds it', async () => {
    const { near, far } = await connected('127.0.0.1');
    const ends = new FarEnds(async () => new Set([inodeOf(far)]));
    expect(await ends.of(near)).toEqual({ kind: 'agent' });
    expect(await ends.of((await connected('127.0.0.1')).near)).toEqual(own);
  });

  test('is nobody any more when it was let go of, also while one looks', async () => {
    const gone = await connected('127.0.0.1');
    gone.far.end();
    await once(gone.far, 'finish');
    gone.far.destroy();
    expect(await new FarEnds(nobodys).of(gone.near)).toEqual({ kind: 'gone' });

    const going = await connected('127.0.0.1');
    const ends = new FarEnds(async () => {
      if (!going.far.destroyed) {
        going.far.destroy();
        await once(going.far, 'close');
      }
      return new Set();
    });
    expect(await ends.of(going.near)).toEqual({ kind: 'gone' });
  });

  test('many that come together are one look', async () => {
    let looks = 0;
    const ends = new FarEnds(async () => {
      looks++;
      return new Set();
    });
    const all = await Promise.all(Array.from({ length: 30 }, async () => (await connected('127.0.0.1')).near));
    expect(await Promise.all(all.map((socket) => ends.of(socket)))).toEqual(all.map(() => own));
    expect(looks).toBeLessThan(5);
  });
});
