import { startScriptedModelServer } from '@concerto/models/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Stage } from './program-stage.ts';

let stage = new Stage();
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.remove());

type Server = Awaited<ReturnType<typeof startScriptedModelServer>>;

const settings = (server: Server) => ({
  manifest: `[connections.main]\nprovider = "openai"\napi_key_env = "KEY"\nbase_url = "${server.url}"\n[connections.main.models]\nsmall = "gpt-4o-mini"\n`,
  environment: { KEY: 'secret-key' },
});

describe('models', () => {
  test('an alias is resolved, and the answer says what it took', async () => {
    const server = await startScriptedModelServer([[{ text: 'hello' }, { usage: { input: 5, output: 2 } }]]);
    const { lines } = await stage.run(
      `model M { provider: main, base: "small", system_prompt: "be brief" }
       fn main() {
         let r = M.execute("hi").unwrap();
         emit("r", [r.text, r.model]);
         emit("tokens", [r.tokens_in, r.tokens_out]);
       }`,
      settings(server),
    );
    await server.close();
    expect(lines).toEqual(['r: [hello, gpt-4o-mini]', 'tokens: [5, 2]']);
    expect(server.requests[0]?.body.messages).toEqual([
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'hi' },
    ]);
  });

  test('a tool with @permission("ask") runs when the answer is yes, and the model is told when it is not', async () => {
    const call = [{ tool: 'Disk__remove', arguments: { name: 'a' } }];
    const server = await startScriptedModelServer([call, 'one', call, 'two', call, 'three']);
    const { lines } = await stage.run(
      `tool Disk {
         description: "A disk",
         @describe("Removes a file")
         @permission("ask")
         pub fn remove(self, name: String) -> String { emit("removed", name); "gone" }
       }
       model M { provider: main, base: "small", tools: [Disk] }
       fn main() { for _ in 0..3 { emit("said", M.execute("tidy").unwrap().text); } }`,
      { ...settings(server), answers: ['yes', 'no', true] },
    );
    await server.close();
    const asked = lines.filter((line) => line.startsWith('tool:permission?'));
    expect(asked).toHaveLength(3);
    expect(asked[0]).toContain('M wants to call Disk::remove with {"name":"a"}: Removes a file');
    expect(lines.filter((line) => !asked.includes(line))).toEqual([
      'removed: a',
      'said: one',
      'said: two',
      'removed: a',
      'said: three',
    ]);
    const told = server.requests.map(({ body }) => JSON.stringify(body.messages));
    expect(told[1]).toContain('gone');
    expect(told[3]).toContain('permission denied: Disk::remove was not called');
    expect(told[5]).not.toContain('permission denied');
  });

  test('a tool of the program is really called, and its state stays', async () => {
    const server = await startScriptedModelServer([
      [{ tool: 'Counter__add', arguments: { by: 3 } }],
      'three',
      [{ tool: 'Counter__add', arguments: {} }],
      'four',
    ]);
    const { lines } = await stage.run(
      `tool Counter {
         description: "Counts",
         total: Int = 0,
         @describe("Adds to the total")
         @param("by", "how much")
         pub fn add(mut self, by: Int = 1) -> Int { self.total += by; emit("added", by); self.total }
       }
       model M { provider: main, base: "small", tools: [Counter] }
       fn main() {
         emit("a", M.execute("add three").unwrap().text);
         emit("b", M.execute("add one").unwrap().text);
         emit("total", Counter.total);
       }`,
      settings(server),
    );
    await server.close();
    expect(lines).toEqual(['added: 3', 'a: three', 'added: 1', 'b: four', 'total: 4']);
  });

  test('what does not fit a schema is asked again', async () => {
    const server = await startScriptedModelServer(['{"x": "no"}', '```json\n{"x": 4}\n```']);
    const { lines } = await stage.run(
      `schema P { x: Int }
       model M { provider: main, base: "small" }
       fn main() { emit("p", M.execute_with_schema<P>("point")); }`,
      settings(server),
    );
    await server.close();
    expect(lines).toEqual(['p: Ok(P {x: 4})']);
    expect(server.requests).toHaveLength(2);
  });

  test.each([
    ['', 3],
    ['@retry(max: 2)', 6],
  ])('one that never fits is given up, and the error says after how many attempts: %s', async (retry, attempts) => {
    const server = await startScriptedModelServer(() => [{ text: '{"x": "no"}' }]);
    const { lines } = await stage.run(
      `schema P { x: Int }
       ${retry}
       model M { provider: main, base: "small" }
       fn main() { emit("p", M.execute_with_schema<P>("point")); }`,
      settings(server),
    );
    await server.close();
    expect(lines).toEqual([`p: Err(P: x: expected an Int, found "no" (after ${attempts} attempts))`]);
    expect(server.requests).toHaveLength(attempts);
    expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain('x: expected an Int');
  });

  test('what the connection tried again is counted too', async () => {
    const server = await startScriptedModelServer(() => [{ error: { status: 500, message: 'down' } }]);
    const { manifest, environment } = settings(server);
    const retry = '[connections.main.retry]\nmax_attempts = 2\nbackoff = "none"\n';
    const { lines } = await stage.run(
      `@retry(max: 2, backoff: "none")
       model M { provider: main, base: "small" }
       fn main() { emit("p", M.execute("hi")); }`,
      { manifest: `${manifest}${retry}`, environment },
    );
    await server.close();
    expect(lines[0]).toContain('model M failed after 4 attempts');
    expect(server.requests).toHaveLength(4);
  });

  test('`@cache` gives the same answer to the same request again, for a while', async () => {
    let count = 0;
    const server = await startScriptedModelServer(() => [{ text: `answer ${++count}` }]);
    const { lines } = await stage.run(
      `@cache(ttl: 60) model M { provider: main, base: "small" }
       @cache(ttl: 0) model Never { provider: main, base: "small" }
       fn main() {
         emit("a", [M.execute("one").unwrap().text, M.execute("one").unwrap().text, M.execute("two").unwrap().text]);
         emit("b", [Never.execute("one").unwrap().text, Never.execute("one").unwrap().text]);
         emit("c", M.with_system("x").execute("one").unwrap().text);
       }`,
      settings(server),
    );
    await server.close();
    expect(lines).toEqual(['a: [answer 1, answer 1, answer 2]', 'b: [answer 3, answer 4]', 'c: answer 5']);
  });

  test('an answer comes piece by piece', async () => {
    const server = await startScriptedModelServer([[{ text: 'one two three', pieces: 4 }]]);
    const { lines } = await stage.run(
      `model M { provider: main, base: "small" }
       fn main() {
         let mut parts = "";
         let r = M.stream("go", |piece| { parts += "[" + piece + "]"; }).unwrap();
         emit("parts", parts);
         emit("text", r.text);
       }`,
      settings(server),
    );
    await server.close();
    expect(lines).toEqual(['parts: [one ][two ][thre][e]', 'text: one two three']);
  });

  test('a refusal is an error value that does not show the key', async () => {
    const server = await startScriptedModelServer([[{ error: { status: 401, message: 'bad key secret-key' } }]]);
    const { lines } = await stage.run(
      `model M { provider: main, base: "small" }
       fn main() {
         match M.execute("hi") {
           Ok(r) => emit("never", r.text),
           Err(e) => emit("kind", [e.kind, typeof(e)]),
         }
         emit("after", 1);
       }`,
      settings(server),
    );
    await server.close();
    expect(lines).toEqual(['kind: [auth, ModelError]', 'after: 1']);
    expect(lines.join()).not.toContain('secret-key');
  });

  test('a missing key is an error that names the variable; --mock needs none', async () => {
    const manifest = '[connections.main]\nprovider = "openai"\napi_key_env = "KEY"\n';
    const source = `model M { provider: main, base: "m" }
      fn main() -> Result<Nil, Any> { emit("text", M.execute("hi")?.text); Ok(nil) }`;
    expect((await stage.run(source, { manifest })).problem).toContain('KEY');
    expect((await stage.run(source, { manifest, mockModels: true })).lines).toEqual(['text: [mock response to: hi]']);
  });
});
