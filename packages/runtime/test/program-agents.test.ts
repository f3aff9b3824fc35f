import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Stage } from './program-stage.ts';

let stage = new Stage();
beforeEach(() => {
  stage = new Stage();
  stage.write('agent.mjs', AGENT);
});
afterEach(() => stage.remove());

/** Does what the prompt says. */
const AGENT = `
import { createInterface } from 'node:readline';
import { appendFileSync } from 'node:fs';
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
let turn = 0;
let left = 0;
const heard = [];
for await (const line of createInterface({ input: process.stdin })) {
  let word = line;
  try { const m = JSON.parse(line); if (m.type === 'response' && left > 0) { heard.push(m.in_reply_to_id + '=' + m.value); if (--left === 0) say({ type: 'result', heard: heard.splice(0) }); continue; } if (m.type === 'response') { say({ type: 'result', text: JSON.stringify(m) }); continue; } word = m.prompt ?? line; } catch {}
  turn++;
  appendFileSync('heard', line + '\\n');
  if (word === 'pid') say({ type: 'result', text: String(process.pid) });
  else if (word === 'turn') say({ type: 'result', text: 'turn ' + turn });
  else if (word === 'ask') say({ type: 'question', id: 'q1', question: 'color?' });
  else if (word === 'last') { say({ type: 'result', text: 'bye' }); process.stdout.end(() => process.exit(0)); }
  else if (word === 'die') { process.stderr.write('out of paint'); process.exit(3); }
  else if (word === 'pretend') { say({ type: 'exit', code: 9, expects_reply: true }); say({ type: 'stderr', text: 'pretended' }); }
  else if (word === 'mutter') { process.stderr.write('mixing\\nstirring\\n', () => setTimeout(() => say({ type: 'result', text: 'done' }), 50)); }
  else if (word === 'late') { say({ type: 'result', text: 'first' }); say({ type: 'result', text: 'stale' }); }
  else if (word === 'steps') { say({ type: 'progress', message: 'a', percent: 1 }); say({ type: 'log', message: 'b' }); say({ type: 'result', text: 'done' }); }
  else if (word === 'quiz') { for (const [id, ms] of [[1, 1200], [2, 400], [3, 800]]) say({ type: 'question', id, ms }); left = 3; }
  else if (word !== 'hang') say({ type: 'result', text: 'echo ' + word });
}`;

const manifest = `[agents.worker]\ncommand = "${process.execPath}"\nargs = ["agent.mjs"]\n`;

describe('agents', () => {
  test('one process serves many prompts, and what it says too late is dropped', async () => {
    const { lines } = await stage.run(
      `agent W { connector: "worker" }
       fn main() {
         emit("a", W.execute("late"));
         emit("b", W.execute("turn"));
         emit("same", W.execute("pid") == W.execute("pid"));
       }`,
      { manifest },
    );
    expect(lines).toEqual(['a: Ok(first)', 'b: Ok(turn 2)', 'same: true']);
  });

  test('a prompt of several lines goes as an object, with `text` as one line; either is said once', async () => {
    const source = `agent W { connector: "worker" }
       fn main() {
         emit("a", W.execute("one\\ntwo"));
         emit("b", W.execute("three\\nfour"));
         emit("c", W.execute("five"));
       }`;
    const { lines } = await stage.run(source, { manifest });
    expect(lines).toEqual([
      expect.stringMatching(/^\[INFO\] agent "W" got this prompt as a JSON object/),
      'a: Ok(echo one\ntwo)',
      'b: Ok(echo three\nfour)',
      'c: Ok(echo five)',
    ]);
    expect(stage.read('heard').split('\n').slice(0, 3)).toEqual([
      expect.stringContaining('{"type":"prompt","text":"one\\ntwo","prompt":"one\\ntwo",'),
      expect.stringContaining('{"type":"prompt","text":"three\\nfour","prompt":"three\\nfour",'),
      'five',
    ]);
    const asText = await stage.run(source, { manifest: `${manifest}input_format = "text"\n` });
    expect(asText.lines).toEqual([
      expect.stringMatching(/^\[INFO\] agent "W" got the lines of this prompt as one/),
      'a: Ok(echo one\\ntwo)',
      'b: Ok(echo three\\nfour)',
      'c: Ok(echo five)',
    ]);
  });

  test('what it says after its result is told as stale', async () => {
    const { lines } = await stage.run(
      `agent W { connector: "worker" }
       fn main() {
         emit("a", W.execute("late"));
         std::time::sleep(100);
         emit("b", W.execute("turn"));
       }`,
      { manifest, events: ['listen:stale'] },
    );
    expect(lines).toEqual([
      'a: Ok(first)',
      'listen:stale: {"agent": W, "type": result, "message": {"type": result, "text": stale}}',
      'b: Ok(turn 2)',
    ]);
  });

  test('handlers answer and change variables around them', async () => {
    const { lines } = await stage.run(
      `agent W { connector: "worker" }
       fn main() {
         let mut seen = [];
         let r = listen W.execute("steps") {
           "progress" | "log" => |m| { seen.push(m.message); },
         };
         emit("seen", seen);
         emit("r", r);
         let a = listen W.execute("ask") { "question" => |q| { "blue" } };
         emit("reply", a.unwrap().text);
       }`,
      { manifest },
    );
    expect(lines).toEqual([
      'seen: [a, b]',
      'r: Ok({"text": done})',
      'reply: {"type":"response","in_reply_to":"question","in_reply_to_id":"q1","value":"blue"}',
    ]);
  });

  test('parallel handlers answer when they are ready, and an agent that waits for them is not idle', async () => {
    const { lines } = await stage.run(
      `agent W { connector: "worker", idle_timeout: 2 }
       fn quiz() -> Result<Any, Error> {
         listen W.execute("quiz") {
           "question" (parallel: true) => |q| { std::time::sleep(q.ms * 2); "a" + q.id },
         }
       }
       fn main() {
         emit("r", quiz());
         emit("again", quiz());
         emit("next", W.execute("turn"));
       }`,
      { manifest },
    );
    const order = '{"heard": [2=a2, 3=a3, 1=a1]}';
    expect(lines).toEqual([`r: Ok(${order})`, `again: Ok(${order})`, 'next: Ok(turn 3)']);
  });

  test('the time of a handler counts: one that still runs at the end of the session is ended', async () => {
    const { lines, problem } = await stage.run(
      `agent W { connector: "worker", timeout: 1.5 }
       fn main() {
         for kind in ["in order", "beside"] {
           let mut after = "ended";
           let r = if kind == "beside" {
             listen W.execute("quiz") { "question" (parallel: true) => |q| { std::time::sleep(60000); after = "went on"; "x" } }
           } else {
             listen W.execute("quiz") { "question" => |q| { std::time::sleep(60000); after = "went on"; "x" } }
           };
           match r {
             Ok(_) => emit("r", "?"),
             Err(e) => emit(kind, [e.kind, e.message, after]),
           }
         }
         emit("next", W.with_timeout(60).execute("turn"));
       }`,
      { manifest },
    );
    expect(problem).toBeUndefined();
    const ended = '[timeout, agent W did not finish within 1.5 s, ended]';
    expect(lines).toEqual([`in order: ${ended}`, `beside: ${ended}`, 'next: Ok(turn 1)']);
  });

  test('an answer that takes longer than it may ends the session', async () => {
    const { lines } = await stage.run(
      `agent W { connector: "worker", reply_timeout: 1 }
       fn main() {
         let slow = listen W.execute("quiz") { "question" (parallel: true) => |q| { std::time::sleep(q.ms); "x" } };
         match slow { Ok(_) => emit("r", "?"), Err(e) => emit(e.kind, e.message) }
         let quick = listen W.execute("quiz") { "question" (parallel: true) => |q| { std::time::sleep(q.ms / 3); "x" } };
         emit("quick", quick);
       }`,
      { manifest },
    );
    expect(lines).toEqual([
      'timeout: agent W got no answer to its question within 1 s',
      'quick: Ok({"heard": [2=x, 3=x, 1=x]})',
    ]);
  });

  test('whoever watches the process sees its stderr and its end, and the outcome stays the error', async () => {
    const { lines } = await stage.run(
      `agent W { connector: "worker" }
       fn main() {
         let mut seen = [];
         let r = listen W.execute("die") {
           "stderr" => |line| { seen.push("stderr \${line.text}"); },
           "exit" => |end| { seen.push("exit \${end.code} \${end.signal} \${end.stderr}"); },
           _ => |m| { seen.push("other"); },
         };
         emit("seen", seen);
         match r { Ok(v) => emit("never", v), Err(e) => emit("kind", e.kind) }
       }`,
      { manifest },
    );
    expect(lines).toEqual(['seen: [stderr out of paint, exit 3 nil out of paint]', 'kind: exited']);
  });

  test('lines on stderr come one by one, and what an observer gives is sent to nobody', async () => {
    const { lines } = await stage.run(
      `agent W { connector: "worker" }
       fn main() {
         let mut seen = [];
         let r = listen W.execute("mutter") { "stderr" => |line| { seen.push(line.text); "noted" } };
         emit("seen", seen);
         emit("r", r);
       }`,
      { manifest },
    );
    expect(lines).toEqual(['seen: [mixing, stirring]', 'r: Ok({"text": done})']);
  });

  test('an agent cannot pretend to its observers that it has ended', async () => {
    const { lines } = await stage.run(
      `agent W { connector: "worker" }
       fn main() {
         let mut seen = [];
         let r = listen W.execute("pretend") {
           "exit" => |end| { seen.push("exit"); },
           "stderr" => |line| { seen.push("stderr"); },
         };
         emit("seen", seen);
         emit("r", r.unwrap().text);
       }`,
      { manifest },
    );
    expect(lines).toEqual(['seen: []', 'r: {"type":"response","in_reply_to":"exit","error":"unhandled"}']);
  });

  test('a failure is a value, and the next call has a new process', async () => {
    const { lines } = await stage.run(
      `agent W { connector: "worker" }
       fn main() {
         match W.execute("die") {
           Ok(v) => emit("never", v),
           Err(e) => emit("died", [e.kind, "\${e.message.contains("out of paint")}"]),
         }
         emit("turn", W.execute("turn"));
       }`,
      { manifest },
    );
    expect(lines).toEqual(['died: [exited, true]', 'turn: Ok(turn 1)']);
  });

  test('a prompt that ended its process is not tried again with another', async () => {
    const { lines } = await stage.run(
      `agent W { connector: "worker" }
       fn main() {
         emit("first", W.execute("turn"));
         match W.execute("die") { Ok(_) => emit("?", 1), Err(e) => emit(e.kind, [e.code, e.details.stderr]) }
       }`,
      { manifest },
    );
    expect(lines).toEqual(['first: Ok(turn 1)', 'exited: [3, out of paint]']);
    expect(stage.read('heard')).toBe('turn\ndie\n');
  });

  test('an agent that can cancel is told so when its time is over', async () => {
    stage.write(
      'careful.mjs',
      `import { appendFileSync } from 'node:fs';
       import { createInterface } from 'node:readline';
       for await (const line of createInterface({ input: process.stdin })) {
         const { type } = JSON.parse(line);
         appendFileSync('heard', type + '\\n');
         if (type === 'init') console.log(JSON.stringify({ type: 'init_ack', capabilities: ['cancel'] }));
         if (type === 'cancel') process.exit(0);
       }`,
    );
    const { lines } = await stage.run(
      `agent C { connector: "careful", idle_timeout: 0.2 }
       fn main() { match C.execute("hang") { Ok(_) => emit("?", 1), Err(e) => emit("kind", e.kind) } }`,
      {
        manifest: `[agents.careful]\ncommand = "${process.execPath}"\nargs = ["careful.mjs"]\nparams = { level = 1 }\n`,
      },
    );
    expect(lines).toEqual(['kind: timeout']);
    expect(stage.read('heard')).toBe('init\nprompt\ncancel\n');
  });

  test('what an agent announced can be read, before its first prompt too', async () => {
    stage.write(
      'agent.mjs',
      `import { createInterface } from 'node:readline';
       import { appendFileSync } from 'node:fs';
       appendFileSync('starts', 'x');
       for await (const line of createInterface({ input: process.stdin })) {
         const { type, params } = JSON.parse(line);
         if (type === 'init' && params.level === 9) console.log(JSON.stringify({ type: 'error', message: 'too high' }));
         else if (type === 'init') console.log(JSON.stringify({ type: 'init_ack', version: '1.2', capabilities: ['cancel', 'sing'] }));
         else console.log(JSON.stringify({ type: 'result', text: 'sung' }));
       }`,
    );
    const source = `agent W { connector: "worker" }
       fn about(a: AgentRef) -> String { "\${a.capabilities()} \${a.version() ?? "none"}" }
       async fn main() {
         emit("both", await (W.capabilities(), W.version()));
         emit("r", W.execute("go"));
         emit("again", about(W));
         W.shutdown();
         emit("after", about(W));
       }`;
    const { lines, problem } = await stage.run(source, { manifest: `${manifest}[agents.worker.params]\nlevel = 2\n` });
    expect(problem).toBeUndefined();
    const both = '[cancel, sing] 1.2';
    expect(lines).toEqual(['both: [[cancel, sing], Some(1.2)]', 'r: Ok(sung)', `again: ${both}`, `after: ${both}`]);
    expect(stage.read('starts')).toBe('x');
    const refused = await stage.run(
      `agent W { connector: "worker" }
       fn main() { try { emit("v", W.version()); } catch AgentError(e) { emit(e.kind, e.message); } }`,
      { manifest: `${manifest}[agents.worker.params]\nlevel = 9\n` },
    );
    expect(refused.lines).toEqual(['init: agent "W" refused its params: too high; it wrote nothing on stderr']);
  });

  test('an agent that never announced anything has no version', async () => {
    const { lines } = await stage.run(
      `agent W { connector: "worker" }
       fn main() { emit("about", (W.capabilities(), W.version())); emit("turn", W.execute("turn")); }`,
      { manifest },
    );
    expect(lines).toEqual(['about: [[], None]', 'turn: Ok(turn 1)']);
  });

  test('break with a value ends the agent, and the next call has a new process', async () => {
    const { lines, problem } = await stage.run(
      `agent W { connector: "worker" }
       fn main() {
         let first = W.execute("pid");
         let asked = listen W.execute("ask") { "question" => |q| { break q.question } };
         emit("asked", asked);
         let beside = listen W.execute("quiz") {
           "question" (parallel: true) => |q| { std::time::sleep(q.ms); break "after \${q.id}" },
         };
         emit("beside", beside);
         emit("turn", W.execute("turn"));
         emit("same", first == W.execute("pid"));
       }`,
      { manifest },
    );
    expect(problem).toBeUndefined();
    expect(lines).toEqual(['asked: Ok(color?)', 'beside: Ok(after 2)', 'turn: Ok(turn 1)', 'same: false']);
  });

  test('an agent that can cancel is told so when a handler breaks', async () => {
    stage.write(
      'agent.mjs',
      `import { createInterface } from 'node:readline';
       import { appendFileSync } from 'node:fs';
       for await (const line of createInterface({ input: process.stdin })) {
         const { type } = JSON.parse(line);
         appendFileSync('types', type + ' ');
         if (type === 'init') console.log(JSON.stringify({ type: 'init_ack', capabilities: ['cancel'] }));
         if (type === 'prompt') console.log(JSON.stringify({ type: 'progress' }));
         if (type === 'cancel') process.exit(0);
       }`,
    );
    const { lines } = await stage.run(
      `agent W { connector: "worker" }
       fn main() { emit("r", listen W.execute("go") { "progress" => |_| { break 1 } }); }`,
      { manifest: `${manifest}[agents.worker.params]\nlevel = 2\n` },
    );
    expect(lines).toEqual(['r: Ok(1)']);
    expect(stage.read('types')).toBe('init prompt cancel ');
  });

  test('a process that ends before it has taken its params has failed its init', async () => {
    stage.write('broken.mjs', `process.stderr.write('no such model'); process.exit(4);`);
    const { lines } = await stage.run(
      `agent B { connector: "broken" }
       fn main() { match B.execute("x") { Ok(_) => emit("?", 1), Err(e) => emit(e.kind, e.details.stderr) } }`,
      { manifest: `[agents.broken]\ncommand = "${process.execPath}"\nargs = ["broken.mjs"]\nparams = { level = 1 }\n` },
    );
    expect(lines).toEqual(['init: no such model']);
  });

  test('a process that ended after its result is replaced without a word', async () => {
    const { lines } = await stage.run(
      `agent W { connector: "worker" }
       fn main() {
         for _ in 0..3 { emit("r", [W.execute("last"), W.execute("turn")]); }
       }`,
      { manifest },
    );
    expect(lines).toEqual(Array.from({ length: 3 }, () => 'r: [Ok(bye), Ok(turn 1)]'));
  });

  test('a silent agent runs into the limit of its declaration', async () => {
    const { lines } = await stage.run(
      `agent W { connector: "worker", timeout: 1 }
       fn main() {
         match W.execute("hang") { Ok(v) => emit("never", v), Err(e) => emit("kind", e.kind) }
         emit("turn", W.execute("turn"));
       }`,
      { manifest },
    );
    expect(lines).toEqual(['kind: timeout', 'turn: Ok(turn 1)']);
  });

  test('the same agent inside its own session is busy, unless it has more instances', async () => {
    const source = `agent W { connector: "worker" }
       fn main() {
         let r = listen W.execute("ask") {
           "question" => |q| {
             match W.execute("turn") { Ok(v) => v, Err(e) => e.kind }
           },
         };
         emit("inner", r.unwrap().text.contains("busy"));
       }`;
    expect((await stage.run(source, { manifest })).lines).toEqual(['inner: true']);
    expect((await stage.run(source, { manifest: `${manifest}instances = 2\n` })).lines).toEqual(['inner: false']);
  });

  test('an agent that cannot be started is a value too', async () => {
    const { lines } = await stage.run(
      `agent W { connector: "worker" }
       fn main() { match W.execute("x") { Ok(v) => emit("never", v), Err(e) => emit("kind", e.kind) } }`,
      { manifest: '[agents.worker]\ncommand = "./not-there"\n' },
    );
    expect(lines).toEqual(['kind: spawn']);
  });

  test('an agent whose call lost a race before it began is free for the next call', async () => {
    const { lines } = await stage.run(
      `agent W { connector: "worker" }
       fn soon() -> Result<String, AgentError> { std::time::sleep(1); Ok("soon") }
       fn main() {
         emit("cold", race(W.execute("hang"), soon()));
         emit("then", W.execute("turn"));
         emit("warm", race(W.execute("hang"), soon()));
         emit("again", W.execute("echo"));
       }`,
      { manifest },
    );
    expect(lines).toEqual(['cold: Ok(soon)', 'then: Ok(turn 1)', 'warm: Ok(soon)', 'again: Ok(echo echo)']);
  });

  test('no process is left, however the program ends', async () => {
    const source = `agent W { connector: "worker" }
      fn main() { emit("pid", W.execute("pid").unwrap()); W.execute("hang"); }`;
    const controller = new AbortController();
    const { lines } = await stage.run(source, {
      manifest,
      signal: controller.signal,
      onEmit: () => controller.abort(),
    });
    const pid = Number(lines[0]?.slice('pid: '.length));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
