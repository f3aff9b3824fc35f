import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ScriptedModelServer, startScriptedModelServer } from '@concerto/models/testing';
import { type PuppetServer, startPuppetServer, steps } from './puppets.ts';

/** Two agents, a model that answers for one of them, a person who approves for it, and its own words. */
const conduct = `
agent Coder { connector: coder }
agent Reviewer { connector: reviewer }
model Architect { provider: scripted, base: "gpt-4.1" }

struct Plan { files: Int, risky: Bool }

fn main() -> Result<String, AgentError> {
    emit("progress", "reading the tree");
    emit("plan", Plan { files: 3, risky: true });
    let coded = listen Coder.execute(std::env::get("CODES").unwrap()) {
        "question" => |q| { Architect.execute(q.question)?.text },
        "approval" => |a| { await emit("approve", a) },
    }?;
    emit("log", "coded, now reviewed");
    let said = Reviewer.execute("look at it")?;
    Ok("\${coded.text}, \${said}")
}
`;

/** Both at work at once, on whatever the prompt says. */
const pair = `
agent Left { connector: coder }
agent Right { connector: coder }

async fn left(steps: String) -> String { said(Left.execute(steps)) }
async fn right(steps: String) -> String { said(Right.execute(steps)) }
fn said(result: Result<String, AgentError>) -> String {
    match result { Ok(text) => text, Err(error) => "\${error.kind}: \${error.message}" }
}

async fn main() -> Result<String, String> {
    let steps = std::env::get("CONCERTO_PROMPT").unwrap();
    let (a, b) = await (left(steps), right(steps));
    Ok("\${a} and \${b}")
}
`;

/** One, on whatever the prompt says. */
const solo = `
agent Coder { connector: coder }

fn main() -> Result<String, AgentError> { Coder.execute(std::env::get("CONCERTO_PROMPT").unwrap()) }
`;

const codes = steps(
  { say: { type: 'progress', message: 'opening auth.ts' } },
  { ask: { type: 'question', id: 'q', question: 'RS256 or HS256?' } },
  {
    ask: {
      type: 'approval',
      id: 'a',
      description: 'Edit auth.ts',
      changes: [{ path: 'auth.ts', patch: '@@ -1 +1 @@\n-HS256\n+RS256\n' }],
    },
  },
  { say: { type: 'result', text: 'signs with RS256' } },
);

const puppet = join(import.meta.dirname, 'puppet.mjs');

export type Conducted = PuppetServer & { readonly model: ScriptedModelServer };

/** A server with programs that conduct agents and a model, which says RS256 for 312 tokens. */
export async function startConducted(): Promise<Conducted> {
  const folder = await mkdtemp(join(tmpdir(), 'concerto-conducted-'));
  for (const [name, source] of Object.entries({ conduct, pair, solo })) {
    await writeFile(join(folder, `${name}.conc`), source);
  }
  const model = await startScriptedModelServer(() => [{ text: 'RS256' }, { usage: { input: 300, output: 12 } }]);
  const able = JSON.stringify([puppet, '--can=steer,interrupt,pause,resume,cancel']);
  const manifest = `
[connections.scripted]
provider = "openai"
base_url = "${model.url}"
api_key_env = "SCRIPTED_KEY"
[agents.coder]
command = ${JSON.stringify(process.execPath)}
args = ${able}
input_format = "json"
[agents.reviewer]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([puppet])}
input_format = "json"
[programs.conduct]
entry = "conduct.conc"
[programs.pair]
entry = "pair.conc"
[programs.solo]
entry = "solo.conc"
`;
  const puppets = await startPuppetServer({ folder, manifest, env: { CODES: codes, SCRIPTED_KEY: 'sk-test' } });
  return {
    ...puppets,
    model,
    close: async () => {
      await puppets.close();
      await model.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
