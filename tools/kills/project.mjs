// Two agents, a model, a person and a sleep. An agent that is lost with its machine is asked anew, in other words.
export const program = `
agent Left { connector: worker }
agent Right { connector: worker }
model Architect { provider: main, base: "m" }

async fn left(tag: String, attempt: Int) -> String {
    let done = listen Left.execute("left \${tag} \${attempt}") {
        "question" => |q| { "yes" },
    };
    match done {
        Ok(result) => result.text,
        Err(error) => { emit("lost", error.message); left(tag, attempt + 1) },
    }
}

async fn right(tag: String, attempt: Int) -> String {
    match Right.execute("right \${tag} \${attempt}") {
        Ok(text) => text,
        Err(error) => { emit("lost", error.message); right(tag, attempt + 1) },
    }
}

async fn main() -> Result<String, String> {
    let tag = std::env::get("CONCERTO_PROMPT") ?? "";
    let plan = Architect.execute("plan \${tag}").unwrap().text;
    emit("planned", plan);
    let (one, two) = await (left(tag, 1), right(tag, 1));
    emit("worked", "\${one} \${two}");
    let who = await emit("ask", "Who?");
    std::time::sleep(300);
    let end = Architect.execute("end \${tag}").unwrap().text;
    emit("ended", end);
    Ok("\${plan}, \${one}, \${two}, \${who}, \${end}")
}
`;

/** Notes down every line that it is given before it does anything with it. `left` asks first. */
export const agent = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
const done = (side) => setTimeout(() => say({ type: 'result', text: side + ' done' }), 150);
createInterface({ input: process.stdin }).on('line', (line) => {
  const isReply = line.startsWith('{');
  appendFileSync(process.argv[2], JSON.stringify({ pid: process.pid, line }) + '\\n');
  if (isReply) return done('left');
  for (let n = 0; n < 5; n++) say({ type: 'progress', message: 'step ' + n });
  if (line.startsWith('right')) return done('right');
  setTimeout(() => say({ type: 'question', id: line, question: 'Go on?' }), 100);
});
`;

export function manifest({ model, heard, agentFile }) {
  return `[project]
name = "kills"
version = "0.1.0"
entry = "long.conc"
[pool]
max_sessions = 64
[connections.main]
provider = "openai"
api_key_env = "MODEL_KEY"
base_url = "${model}"
[agents.worker]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([agentFile, heard])}
[programs.long]
entry = "long.conc"
`;
}
