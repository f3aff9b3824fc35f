// Other people's event streams behind one face: `{port, path, publish(texts), finish(), stop()}`.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { DurableStreamTestServer } from '@durable-streams/server';
import { createChannel, createSession } from 'better-sse';

/** As its guide shows it: a channel, and a push for each event. */
export async function betterSse() {
  const channel = createChannel();
  const responses = [];
  const server = createServer((request, response) => {
    responses.push(response);
    void createSession(request, response).then((session) => channel.register(session));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: server.address().port,
    path: '/',
    async publish(texts) {
      for (const text of texts) channel.broadcast(JSON.parse(text), 'message');
    },
    async finish() {
      for (const response of responses) response.end();
    },
    async stop() {
      server.close();
    },
  };
}

/** The reference server of Durable Streams; in memory without a folder. Events go in as its protocol wants it, by POST. */
export async function durableStreams(dataDir) {
  const server = new DurableStreamTestServer({ port: 0, ...(dataDir === undefined ? {} : { dataDir }) });
  const url = `${await server.start()}/bench`;
  const headers = { 'content-type': 'application/json' };
  const call = async (method, more) => {
    const response = await fetch(url, { method, headers: { ...headers, ...more?.headers }, body: more?.body });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status}`);
  };
  await call('PUT');
  return {
    port: Number(new URL(url).port),
    path: '/bench?offset=-1&live=sse',
    publish: (texts) => call('POST', { body: `[${texts.join(',')}]` }),
    finish: () => call('POST', { headers: { 'Stream-Closed': 'true' } }),
    stop: () => server.stop(),
  };
}
