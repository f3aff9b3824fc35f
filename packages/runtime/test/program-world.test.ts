import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Stage } from './program-stage.ts';

let stage = new Stage();
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.remove());

describe('output', () => {
  test('emits, prints, logs and questions keep their order', async () => {
    const { lines } = await stage.run(
      `async fn main() {
         emit("a", 1);
         print("p", 2);
         std::log::warn("careful");
         let name = await emit("who", "?");
         emit("b", name);
         emit("c", await emit("more"));
       }`,
      { answers: ['Ann'] },
    );
    expect(lines).toEqual(['a: 1', 'p 2', '[WARN] careful', 'who? ?', 'b: Ann', 'more? nil', 'c: nil']);
  });

  test('questions of fibers are open at the same time', async () => {
    const { lines } = await stage.run(
      'async fn main() { let (a, b) = await (emit("x", 1), emit("y", 2)); emit("both", [a, b]); }',
      { answers: [10, 20] },
    );
    expect(lines).toEqual(['x? 1', 'y? 2', 'both: [10, 20]']);
  });
});

describe('the machine', () => {
  test('files are relative to where the program runs, and errors name the path as written', async () => {
    stage.write('given.txt', 'one\n');
    const { lines } = await stage.run(`fn main() {
      emit("read", std::fs::read_file("given.txt"));
      emit("write", std::fs::write_file("new.txt", "é").is_ok());
      emit("append", std::fs::append_file("new.txt", "!").is_ok());
      emit("size", std::fs::file_size("new.txt"));
      emit("list", std::fs::list_dir("."));
      emit("exists", [std::fs::exists("new.txt"), std::fs::exists("none")]);
      emit("remove", std::fs::remove_file("new.txt").is_ok());
      emit("gone", std::fs::read_file("new.txt"));
      emit("directory", std::fs::read_file("."));
    }`);
    expect(lines).toEqual([
      'read: Ok(one\n)',
      'write: true',
      'append: true',
      'size: Ok(3)',
      'list: Ok([given.txt, new.txt])',
      'exists: [true, false]',
      'remove: true',
      'gone: Err(new.txt: no such file or directory)',
      'directory: Err(.: is a directory)',
    ]);
  });

  test('the environment is what the world says', async () => {
    const { lines } = await stage.run(
      `fn main() {
         emit("env", [std::env::get("COLOR"), std::env::get("NONE")]);
         emit("all", std::env::all()["COLOR"]);
       }`,
      { environment: { COLOR: 'teal' } },
    );
    expect(lines).toEqual(['env: [Some(teal), None]', 'all: teal']);
  });

  test('chance stays in its range and differs', async () => {
    const { lines } = await stage.run(`fn main() {
      let mut fine = true;
      for _ in 0..100 {
        let n = std::math::random_int(-2, 2);
        let f = std::math::random();
        if n < -2 || n > 2 || f < 0.0 || f >= 1.0 { fine = false; }
      }
      emit("fine", fine);
      emit("wide", std::math::random_int(-9007199254740991, 9007199254740991) != 0);
      emit("uuid", std::crypto::uuid() != std::crypto::uuid());
      emit("bytes", std::crypto::random_bytes(4).len());
    }`);
    expect(lines).toEqual(['fine: true', 'wide: true', 'uuid: true', 'bytes: 8']);
  });
});

describe('http', () => {
  let server: Server;
  let address = '';
  beforeEach(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += String(chunk);
      });
      request.on('end', () => {
        response.statusCode = request.url === '/missing' ? 404 : 200;
        if (request.url === '/moved') response.statusCode = 303;
        if (request.url === '/moved') response.setHeader('location', '/there');
        if (request.url === '/packed') response.setHeader('content-encoding', 'gzip');
        if (request.url === '/odd') response.setHeader('content-encoding', 'constructor');
        response.setHeader('x-kind', request.headers['content-type'] ?? 'none');
        const answer = `${request.method} ${body}`;
        response.end(request.url === '/packed' ? gzipSync(answer) : answer);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const place = server.address();
    address = typeof place === 'object' && place !== null ? `http://127.0.0.1:${place.port}` : '';
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  test('a status is no error, an unreachable server is', async () => {
    const { lines } = await stage.run(`fn main() {
      let r = std::http::post("${address}/", {"a": 1}).unwrap();
      emit("post", [r.body, r.headers["x-kind"]]);
      emit("status", std::http::get("${address}/missing").unwrap().status);
      emit("moved", std::http::post("${address}/moved", {"a": 1}).unwrap().body);
      emit("packed", std::http::get("${address}/packed").unwrap().body);
      emit("odd", std::http::get("${address}/odd").unwrap().body);
      emit("nobody", std::http::get("http://127.0.0.1:1/").is_err());
      emit("nonsense", std::http::get("not an address").is_err());
    }`);
    expect(lines).toEqual([
      'post: [POST {"a":1}, application/json]',
      'status: 404',
      'moved: GET ',
      'packed: GET ',
      'odd: GET ',
      'nobody: true',
      'nonsense: true',
    ]);
  });
});

describe('http to a port that browsers keep away from', () => {
  const PORTS = [10080, 6697, 6669, 6668, 6667, 6666, 6665, 6566, 6000, 5061, 5060, 4190, 4045, 3659, 2049, 1723, 1720];

  test('is asked like any other', async () => {
    const server = createServer((_, response) => response.end('here'));
    const port = await firstFree(server, PORTS);
    const { lines } = await stage.run(
      `fn main() { emit("body", std::http::get("http://127.0.0.1:${port}/").unwrap().body); }`,
    );
    server.closeAllConnections();
    server.close();
    expect(lines).toEqual(['body: here']);
  });
});

async function firstFree(server: Server, ports: readonly number[]): Promise<number> {
  for (const port of ports) {
    server.listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
      return port;
    } catch {
      // Somebody else listens there.
    }
  }
  throw new Error('none of the ports is free');
}

describe('the end', () => {
  test('an interrupted program does not go on', async () => {
    const controller = new AbortController();
    const { lines, problem } = await stage.run(
      'fn main() { emit("a", 1); std::time::sleep(60000); emit("never", 2); }',
      { signal: controller.signal, onEmit: () => controller.abort() },
    );
    expect(lines).toEqual(['a: 1']);
    expect(problem).toBe('the program was interrupted');
  });

  test('a program that only computes can be interrupted', async () => {
    const { problem } = await stage.run('fn main() { loop { } }', { signal: AbortSignal.timeout(50) });
    expect(problem).toBe('the program was interrupted');
  });

  test('who loses a race is cancelled', async () => {
    const { lines } = await stage.run(`
      async fn slow() -> Int { std::time::sleep(60000); emit("never", 1); 1 }
      async fn quick() -> Int { 2 }
      async fn main() { emit("won", race(slow(), quick())); }`);
    expect(lines).toEqual(['won: 2']);
  });
});
