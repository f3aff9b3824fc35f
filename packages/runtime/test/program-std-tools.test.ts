import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startScriptedModelServer } from '@concerto/models/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Stage } from './program-stage.ts';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port has one
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.remove());

describe('std::tools', () => {
  test('a model reads files, and writes one when it may; it stays below the folder', async () => {
    stage.write('note.txt', 'buy milk');
    const server = await startScriptedModelServer([
      [
        { tool: 'FileTool__list', arguments: { path: '.' } },
        { tool: 'FileTool__read', arguments: { path: 'note.txt' } },
        { tool: 'FileTool__read', arguments: { path: '../secret' } },
        { tool: 'FileTool__write', arguments: { path: 'out.txt', text: 'milk' } },
        { tool: 'FileTool__write', arguments: { path: 'no.txt', text: 'milk' } },
      ],
      'Done.',
    ]);
    const { lines } = await stage.run(
      `use std::tools::FileTool;
       model M { provider: main, base: "m", tools: [FileTool] }
       fn main() { emit("results", M.execute("go").unwrap().tool_calls.map(|call| call.result)); }`,
      {
        manifest: `[connections.main]\nprovider = "openai"\napi_key_env = "KEY"\nbase_url = "${server.url}"\n`,
        environment: { KEY: 'k' },
        answers: ['yes', 'no'],
      },
    );
    await server.close();
    expect(lines.at(-1)).toMatch(
      /^results: \[\[.*note\.txt.*\], buy milk, \.\.\/secret: is not below the folder, written, /,
    );
    expect(lines.filter((line) => line.includes('?'))).toHaveLength(2);
    expect(readFileSync(join(stage.directory, 'out.txt'), 'utf8')).toBe('milk');
    expect(existsSync(join(stage.directory, 'no.txt'))).toBe(false);
  });

  test('what may hold a secret is neither read nor written', async () => {
    stage.write('.env', 'KEY=secret');
    const { lines } = await stage.run(
      `use std::tools::FileTool;
       fn main() {
         emit("env", FileTool.read(".env"));
         emit("deep", FileTool.read("a/.ENV.local"));
         emit("write", FileTool.write(".ssh/authorized_keys", "x"));
       }`,
    );
    const file = 'may hold secrets, and is not for a model)';
    expect(lines).toEqual([
      `env: Err(.env: ${file}`,
      `deep: Err(a/.ENV.local: ${file}`,
      `write: Err(.ssh/authorized_keys: ${file}`,
    ]);
  });

  test.each([
    ['http://169.254.169.254/latest/', '169.254.169.254'],
    ['http://user@192.168.0.1?x', '192.168.0.1'],
    ['https://[fe80::1]/', '[fe80::1]'],
    ['http://[::ffff:169.254.169.254]/', '[::ffff:a9fe:a9fe]'],
    ['http://2852039166/', '169.254.169.254'],
    ['http://0xa9.0376.43518/', '169.254.169.254'],
    ['http:\\\\10.0.0.1\\x', '10.0.0.1'],
    ['http://10.0\t.0.1/', '10.0.0.1'],
    ['http://１０.0.0.1/', '10.0.0.1'],
    ['HTTP://127.0.0.1:1/', '127.0.0.1'],
    ['http://localhost:1/', 'localhost'],
    ['http://[::1]:1/', '[::1]'],
  ])('an address that only this machine or its network reaches is not asked: %j', async (url, host) => {
    const { lines } = await stage.run(
      `use std::tools::HttpTool;
       fn main() {
         emit("get", HttpTool.get(${JSON.stringify(url)}));
         emit("post", HttpTool.post(${JSON.stringify(url)}, "1"));
       }`,
      { environment: { CONCERTO_HTTP_HOSTS: 'intranet.example, 172.31.0.1' } },
    );
    const why = `${host}: is a private or link-local address; CONCERTO_HTTP_HOSTS lists those that are meant`;
    expect(lines).toEqual([`get: Err(${why})`, `post: Err(${why})`]);
  });

  test('one that is listed is, and what it sends us on to is looked at again', async () => {
    const inner = createServer((_request, response) => response.end('secret'));
    const outer = createServer((request, response) => {
      if (request.url === '/on') response.writeHead(302, { location: `http://localhost:${portOf(inner)}/` }).end();
      else response.end('listed');
    });
    for (const server of [inner, outer]) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { lines } = await stage.run(
      `use std::tools::HttpTool;
       fn main() {
         emit("listed", HttpTool.get("http://127.0.0.1:${portOf(outer)}/"));
         emit("on", HttpTool.get("http://127.0.0.1:${portOf(outer)}/on"));
       }`,
      { environment: { CONCERTO_HTTP_HOSTS: `127.0.0.1:${portOf(outer)}` } },
    );
    for (const server of [inner, outer]) server.close();
    expect(lines).toEqual(['listed: Ok(listed)', expect.stringContaining('on: Err(localhost: is a private')]);
  });

  test('HttpTool gives the text, and what went wrong', async () => {
    const server = createServer((request, response) => {
      response.statusCode = request.url === '/there' ? 200 : 404;
      response.end(`${request.method} ${request.url}`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const port = portOf(server);
    const { lines } = await stage.run(
      `use std::tools::HttpTool;
       fn main() {
         emit("get", HttpTool.get("http://127.0.0.1:${port}/there"));
         emit("gone", HttpTool.get("http://127.0.0.1:${port}/gone"));
         emit("post", HttpTool.post("http://127.0.0.1:${port}/there", "{\\"a\\": 1}"));
         emit("bad", HttpTool.post("http://127.0.0.1:${port}/there", "{").is_err());
       }`,
      { environment: { CONCERTO_HTTP_HOSTS: '127.0.0.1' } },
    );
    server.closeAllConnections();
    server.close();
    expect(lines).toEqual(['get: Ok(GET /there)', 'gone: Err(404: GET /gone)', 'post: Ok(POST /there)', 'bad: true']);
  });
});
