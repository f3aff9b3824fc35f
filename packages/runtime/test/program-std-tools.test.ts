import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startScriptedModelServer } from '@concerto/models/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Stage } from './program-stage.ts';

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

  test('what may hold a secret is not read, and a network that only this machine reaches not asked', async () => {
    stage.write('.env', 'KEY=secret');
    const { lines } = await stage.run(
      `use std::tools::{FileTool, HttpTool};
       fn main() {
         emit("env", FileTool.read(".env"));
         emit("deep", FileTool.read("a/.ENV.local"));
         emit("write", FileTool.write(".ssh/authorized_keys", "x"));
         emit("cloud", HttpTool.get("http://169.254.169.254/latest/"));
         emit("lan", HttpTool.get("http://user@192.168.0.1?x"));
         emit("post", HttpTool.post("https://[fe80::1]/", "1"));
         emit("listed", HttpTool.get("http://10.255.255.1:1/").is_err());
       }`,
      { environment: { CONCERTO_HTTP_HOSTS: 'intranet.example, 172.31.0.1' } },
    );
    const file = 'may hold secrets, and is not for a model)';
    const host = 'is a private or link-local address; CONCERTO_HTTP_HOSTS lists those that are meant)';
    expect(lines).toEqual([
      `env: Err(.env: ${file}`,
      `deep: Err(a/.ENV.local: ${file}`,
      `write: Err(.ssh/authorized_keys: ${file}`,
      `cloud: Err(169.254.169.254: ${host}`,
      `lan: Err(192.168.0.1: ${host}`,
      `post: Err([fe80::1]: ${host}`,
      'listed: true',
    ]);
  });

  test('HttpTool gives the text, and what went wrong', async () => {
    const server = createServer((request, response) => {
      response.statusCode = request.url === '/there' ? 200 : 404;
      response.end(`${request.method} ${request.url}`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { lines } = await stage.run(`use std::tools::HttpTool;
       fn main() {
         emit("get", HttpTool.get("http://127.0.0.1:${port}/there"));
         emit("gone", HttpTool.get("http://127.0.0.1:${port}/gone"));
         emit("post", HttpTool.post("http://127.0.0.1:${port}/there", "{\\"a\\": 1}"));
         emit("bad", HttpTool.post("http://127.0.0.1:${port}/there", "{").is_err());
       }`);
    server.closeAllConnections();
    server.close();
    expect(lines).toEqual(['get: Ok(GET /there)', 'gone: Err(404: GET /gone)', 'post: Ok(POST /there)', 'bad: true']);
  });
});
