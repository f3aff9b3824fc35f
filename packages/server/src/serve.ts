import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { createApp } from './app.ts';
import { EventFeeds } from './event-feeds.ts';
import { LogTails } from './log-tails.ts';
import { OpenConnections } from './open-connections.ts';
import { People } from './people/people.ts';
import type { ServerContext } from './server-context.ts';

export type ServeOptions = Omit<ServerContext, 'feeds' | 'tails' | 'people'> & {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly report: (message: string, cause: unknown) => void;
};

export type RunningServer = {
  readonly port: number;
  /** Takes no new connection, ends the streams (their readers resume elsewhere), and resolves when all are gone. */
  close(): Promise<void>;
};

/** Rejects with the system's error when the address cannot be had. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const feeds = new EventFeeds(options.log);
  const tails = new LogTails(options.log);
  const people = await People.open(options.log);
  people.onChange(() => feeds.cutWhere(({ reader }) => !people.isKnown(reader)));
  const connections = new OpenConnections();
  const app = createApp({ ...options, people, feeds, tails }, options.report, connections);
  const server = createAdaptorServer({ fetch: app.fetch });
  connections.watch(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  return {
    port: isAddress(address) ? address.port : options.port,
    close: async () => {
      feeds.close();
      tails.close();
      people.close();
      connections.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      });
    },
  };
}

function isAddress(address: AddressInfo | string | null): address is AddressInfo {
  return address !== null && typeof address === 'object';
}
