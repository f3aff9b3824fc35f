import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Stage } from './program-stage.ts';

let stage = new Stage();
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.remove());

const file = fileURLToPath(new URL('../../agents/test/agents/acp.mjs', import.meta.url));
const manifest = `[agents.worker]
protocol = "acp"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(file)}]
`;

test('an agent of protocol "acp" serves one prompt after the other', async () => {
  const { lines, problem } = await stage.run(
    `agent W { connector: "worker" }
     fn main() {
       emit("a", W.execute("hello"));
       emit("b", W.execute("hello"));
       emit("c", W.execute("tokens"));
     }`,
    { manifest },
  );
  expect(problem).toBeUndefined();
  expect(lines).toEqual([
    'a: Ok(Hello there.)',
    'b: Ok(Hello there.)',
    expect.stringContaining('the model reached its limit of tokens'),
  ]);
});

test('a listen hears its thoughts and what it does, and answers what it asks', async () => {
  const { lines, problem } = await stage.run(
    `agent W { connector: "worker" }
     fn main() -> Result<Nil, Error> {
       listen W.execute("tools") {
         "thought" => |m| { emit("thought", m.text); },
         "tool_call" => |call: ToolCall| { emit("call", "\${call.name}: \${call.title}"); },
         "tool_result" => |m| { emit("result", "\${m.content} \${m.outcome}"); },
         "log" => |m| { emit("log", m.message); },
         "partial" => |_| {},
       }?;
       let allowed = listen W.execute("permission") {
         "approval" => |m| { emit("approval", m.description); true },
         "partial" | "tool_call" | "tool_result" | "log" => |_| {},
       }?;
       emit("allowed", allowed.text);
       let chosen = listen W.execute("choose") {
         "question" => |m| { emit("question", m.question); "Redis" },
         "partial" => |_| {},
       }?;
       emit("chosen", chosen.text);
       Ok(nil)
     }`,
    { manifest },
  );
  expect(problem).toBeUndefined();
  expect(lines).toEqual([
    'thought: Hm.',
    'call: read: Read a.txt',
    'log: read: in_progress',
    'result: the text ok',
    'call: fetch: Never ends',
    'result: unfinished cancelled',
    'approval: `rm -r build`',
    'allowed: {"outcome":"selected","optionId":"once"}',
    'question: Which store?',
    'chosen: {"action":"accept","content":{"question_0":"Redis"}}',
  ]);
});

test('a question that the program does not handle is not answered with a yes', async () => {
  const { lines, problem } = await stage.run(
    `agent W { connector: "worker" }
     fn main() -> Result<Nil, Error> {
       let result = listen W.execute("permission") { "partial" => |_| {} }?;
       emit("told", result.text);
       Ok(nil)
     }`,
    { manifest },
  );
  expect(problem).toBeUndefined();
  expect(lines).toEqual(['told: {"outcome":"cancelled"}']);
});
