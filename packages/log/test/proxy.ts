import { connect, createServer, type Socket } from 'node:net';

export type Proxy = {
  readonly port: number;
  /** From now on the server hears the clients but no answer reaches them; resolves when it has said something. */
  deafen(): Promise<void>;
  /** Ends all connections and refuses new ones until `mend`. */
  cut(): void;
  mend(): void;
  /** Ends all connections; new ones lead to another server. */
  lead(port: number): void;
  close(): void;
};

/** A wire between clients and a server that can be cut at a chosen moment. */
export async function startProxy(first: number): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let target = first;
  let broken = false;
  let deaf: (() => void) | undefined;
  const server = createServer((client) => {
    if (broken) {
      client.destroy();
      return;
    }
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (data) => upstream.write(data));
    upstream.on('data', (data) => {
      if (deaf === undefined) client.write(data);
      else deaf();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    deafen: () =>
      new Promise<void>((resolve) => {
        deaf = resolve;
      }),
    cut() {
      broken = true;
      deaf = undefined;
      destroyAll();
    },
    mend() {
      broken = false;
    },
    lead(port) {
      target = port;
      destroyAll();
    },
    close() {
      destroyAll();
      server.close();
    },
  };
}
