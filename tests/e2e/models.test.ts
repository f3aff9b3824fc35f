import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Script,
  type ScriptedModelServer,
  startScriptedModelServer,
} from '../../packages/models/src/testing/scripted-model-server.ts';
import { type ConcertoRun, runConcerto } from '../support/run-concerto.ts';

const KEY = 'sk-test-0123456789';
const everything = createRequire(join(import.meta.dirname, '../../packages/models/package.json')).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);

let folder: string;
let server: ScriptedModelServer | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-models-'));
  await mkdir(join(folder, 'src'));
});

afterEach(async () => {
  await server?.close();
  server = undefined;
  await rm(folder, { recursive: true, force: true });
});

const MANIFEST = `
[project]
name = "models"
version = "0.1.0"
entry = "src/main.conc"

[connections.openai]
provider = "openai"
api_key_env = "OPENAI_API_KEY"
default_model = "gpt-4o"
[connections.openai.models]
fast = "gpt-4o-mini"

[connections.claude]
provider = "anthropic"
api_key_env = "ANTHROPIC_API_KEY"
default_model = "claude-haiku-4-5"

[mcp.Everything]
transport = "stdio"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(everything)}, "stdio"]
`;

const TOOLS = `
tool Calculator {
    description: "Arithmetic",
    calls: Int = 0,

    @describe("Adds two numbers")
    @param("a", "first")
    @param("b", "second")
    pub fn add(mut self, a: Int, b: Int) -> Int {
        self.calls += 1;
        a + b
    }

    @describe("Fails")
    pub fn fail(self) -> Result<Int, String> { Err("out of fingers") }
}

mcp Everything {
    @describe("Repeats")
    @param("message", "what")
    fn echo(message: String) -> String;
}
`;

async function start(program: string, script: Script, flags: readonly string[] = []): Promise<ConcertoRun> {
  await writeFile(join(folder, 'Concerto.toml'), MANIFEST);
  await writeFile(join(folder, 'src/main.conc'), program);
  server = await startScriptedModelServer(script);
  return runConcerto(['run', ...flags, folder], {
    OPENAI_API_KEY: KEY,
    OPENAI_BASE_URL: `${server.url}/v1`,
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: server.url,
  });
}

const run = async (program: string, script: Script) => (await start(program, script)).ended;

describe('concerto run with models', () => {
  test('a response has its fields; aliases and settings reach the provider', async () => {
    const { code, out, err } = await run(
      `model M { provider: openai, base: "fast", system_prompt: "Be brief.", temperature: 0.5, max_tokens: 77 }
fn main() -> Result<String, ModelError> {
    let r = M.execute("Hello?")?;
    emit("all", r);
    emit("rest", "\${r.provider} \${r.cost} \${r.latency_ms >= 0}");
    Ok(r.text)
}`,
      [[{ text: 'Hi.' }, { usage: { input: 1000, output: 500 } }]],
    );
    expect(err).toBe('');
    expect(out.split('\n')).toEqual([
      '[emit:all] Response {text: Hi., tokens_in: 1000, tokens_out: 500, model: gpt-4o-mini}',
      expect.stringMatching(/^\[emit:rest\] openai .*0\.00045.* true$/),
      '',
    ]);
    expect(code).toBe(0);
    expect(server?.requests[0]?.body).toMatchObject({
      model: 'gpt-4o-mini',
      temperature: 0.5,
      max_tokens: 77,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello?' },
      ],
    });
  });

  test.each(['openai', 'claude'])(
    '%s calls tools of the program and of an MCP server, and learns of errors',
    async (connection) => {
      const { code, out, err } = await run(
        `${TOOLS}
model Helper { provider: ${connection}, tools: [Calculator, Everything] }
fn main() -> Result<String, ModelError> {
    let r = Helper.execute("What is 1 + 2?")?;
    emit("answer", r.text);
    emit("results", r.tool_calls.map(|call| call.result));
    emit("calls", Calculator.calls);
    Ok(r.text)
}`,
        [
          [
            { tool: 'Calculator__add', arguments: { a: 1, b: 2 } },
            { tool: 'Calculator__fail', arguments: {} },
            { tool: 'Everything__echo', arguments: { message: 'through the server' } },
          ],
          [{ tool: 'Calculator__add', arguments: { a: 'one', b: 2 } }],
          'Three.',
        ],
      );
      expect(err).toBe('');
      expect(out).toContain('[emit:answer] Three.\n');
      expect(out).toContain('3, out of fingers, Echo: through the server');
      expect(out).toContain('[emit:calls] 1\n');
      expect(code).toBe(0);
      const [, second, third] = server?.requests ?? [];
      expect(JSON.stringify(second?.body)).toContain('out of fingers');
      expect(JSON.stringify(third?.body)).toContain('expected an Int');
    },
  );

  test('a model that never stops calling tools is stopped', async () => {
    const { code, err } = await run(
      `${TOOLS}
model Helper { provider: openai, tools: [Calculator] }
fn main() -> Result<String, ModelError> { Ok(Helper.execute("Count")?.text) }`,
      () => [{ tool: 'Calculator__add', arguments: { a: 1, b: 1 } }],
    );
    expect(err).toContain('called tools more than 10 times');
    expect(server?.requests).toHaveLength(11);
    expect(code).toBe(1);
  });

  test('an answer that does not fit its schema is asked for again with the error', async () => {
    const { code, out } = await run(
      `schema Review { score: Int, verdict: "good" | "bad", note?: String }
model M { provider: openai }
fn main() -> Result<Nil, SchemaError> {
    let review = M.execute_with_schema<Review>("Review this")?;
    emit("review", review);
    Ok(nil)
}`,
      ['{"score":"high","verdict":"good"}', '```json\n{"score": 5, "verdict": "good", "note": null}\n```'],
    );
    expect(out).toBe('[emit:review] Review {score: 5, verdict: good, note: None}\n');
    expect(code).toBe(0);
    const [first, second] = server?.requests ?? [];
    expect(first?.body.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { strict: true, schema: { required: ['score', 'verdict', 'note'], additionalProperties: false } },
    });
    expect(JSON.stringify(second?.body.messages)).toContain('score: expected an Int');
  });

  test('a streamed answer comes in pieces', async () => {
    const { out } = await run(
      `model M { provider: claude }
fn main() -> Result<String, ModelError> {
    let r = M.stream("Tell me", |piece| emit("piece", piece))?;
    emit("whole", r.text);
    Ok(r.text)
}`,
      [[{ text: 'one two ' }, { text: 'three' }]],
    );
    expect(out).toBe('[emit:piece] one two \n[emit:piece] three\n[emit:whole] one two three\n');
    expect(server?.requests[0]?.streamed).toBe(true);
  });

  test('`@retry` asks again; the error says how often, and never the key', async () => {
    const { code, err } = await run(
      `@retry(max: 3, backoff: "none")
model M { provider: openai }
fn main() -> Result<String, ModelError> { Ok(M.execute("Hello?")?.text) }`,
      () => [{ error: { status: 500, message: `broken, ${KEY}` } }],
    );
    expect(code).toBe(1);
    expect(err).toContain('3 attempts');
    expect(err).toContain('broken, [secret]');
    expect(err).not.toContain(KEY);
    expect(server?.requests).toHaveLength(3);
  });

  test('a timeout is an error the program sees', async () => {
    const { code, out } = await run(
      `@timeout(ms: 200)
model M { provider: openai }
fn main() { match M.execute("Hello?") { Ok(r) => emit("text", r.text), Err(e) => emit("kind", e.kind) } }`,
      [[{ hang: true }]],
    );
    expect(out).toBe('[emit:kind] timeout\n');
    expect(code).toBe(0);
  });

  test('three models asked at once are asked at once', async () => {
    const running = await start(
      `model M { provider: openai }
async fn ask(name: String) -> Result<String, ModelError> { Ok(M.execute(name)?.text) }
async fn main() -> Result<Nil, ModelError> {
    let (a, b, c) = await (ask("a"), ask("b"), ask("c"));
    emit("all", [a?, b?, c?]);
    Ok(nil)
}`,
      (_request, index) => [{ gate: `g${index}` }, { text: `${index}` }],
    );
    const gates = [0, 1, 2].flatMap((index) => server?.gate(`g${index}`) ?? []);
    await Promise.all(gates.map((gate) => gate.reached));
    for (const gate of gates) gate.open();
    expect((await running.ended).out).toMatch(/^\[emit:all\] \[\d, \d, \d\]\n$/);
  });

  test('Ctrl-C ends a request that hangs, streamed or not', async () => {
    for (const call of ['execute("a")', 'stream("a", |p| nil)']) {
      const running = await start(
        `model M { provider: openai }
fn main() -> Result<String, ModelError> { Ok(M.${call}?.text) }`,
        [[{ gate: 'asked' }, { hang: true }]],
      );
      await server?.gate('asked').reached;
      running.interrupt();
      const { code } = await running.ended;
      expect(code).toBe(130);
      await server?.abandoned();
      await server?.close();
      server = undefined;
    }
  });

  test('a missing key names its variable', async () => {
    await writeFile(join(folder, 'Concerto.toml'), MANIFEST);
    await writeFile(
      join(folder, 'src/main.conc'),
      `model M { provider: openai }
fn main() -> Result<String, ModelError> { Ok(M.execute("Hello?")?.text) }`,
    );
    const { code, out, err } = await runConcerto(['run', folder]).ended;
    expect(code).toBe(1);
    expect(err).toContain('OPENAI_API_KEY');
    expect(out).toBe('');
    const mocked = await runConcerto(['run', '--mock', folder]).ended;
    expect(mocked.code).toBe(0);
  });

  test('a program calls an MCP server itself', async () => {
    const { code, out, err } = await run(
      `${TOOLS}
fn main() -> Result<Nil, ToolError> {
    emit("declared", Everything.echo("one")?);
    emit("by name", Everything.call("get-sum", {"a": 2, "b": 3})?);
    emit("error", Everything.call("no-such-tool", {}).is_err());
    Ok(nil)
}`,
      [],
    );
    expect(err).toBe('');
    expect(out).toContain('[emit:declared] Echo: one\n');
    expect(out).toContain('[emit:by name] The sum of 2 and 3 is 5.\n');
    expect(out).toContain('[emit:error] true\n');
    expect(code).toBe(0);
  });
});
