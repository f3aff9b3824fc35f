import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { buildProgram, readManifest } from '@concerto/language';

/**
 * `ask N` asks so often, one after another, and tells how long an answer took; `progress N` and `partial N` say so much
 * without waiting.
 */
export const askingAgent = `
import { createInterface } from 'node:readline';
const question = '{"type":"question","id":"q","question":"go on?"}\\n';
let left = 0;
let asked = 0;
let took = [];
createInterface({ input: process.stdin }).on('line', (text) => {
  const now = performance.now();
  const message = JSON.parse(text);
  if (message.type === 'response') took.push(now - asked);
  if (message.type === 'prompt') {
    const [what, count] = message.text.split(' ');
    took = [];
    if (what === 'ask') left = Number(count);
    else return flood(what, Number(count));
  }
  if (left-- <= 0) return process.stdout.write(JSON.stringify({ type: 'result', text: 'done', median: median() }) + '\\n');
  asked = performance.now();
  process.stdout.write(question);
});

function median() {
  return 1000 * (took.sort((a, b) => a - b)[took.length >> 1] ?? 0);
}

async function flood(type, count) {
  const lines = [];
  for (let n = 0; n < count; n++) lines.push(line(type, n));
  for (let n = 0; n < count; n += 500) {
    const text = lines.slice(n, n + 500).join('');
    if (!process.stdout.write(text)) await new Promise((go) => process.stdout.once('drain', go));
  }
  process.stdout.write('{"type":"result","text":"done"}\\n');
}

function line(type, n) {
  const fields = type === 'partial'
    ? { text: 'The change ' + n + ' touches the login and two of its callers, ' + 'x'.repeat(200) }
    : { message: 'step ' + n + ': reading packages/session/src/decide.ts', percent: n % 100 };
  return JSON.stringify({ type, ...fields }) + '\\n';
}`;

/** A program that has an agent do that, with a handler. It emits `begin`, and `end` with what was told or counted. */
export function supervise(what: string, count: number, handler: string): string {
  return `
agent Worker { connector: worker, timeout: 600 }

fn main() {
    Worker.execute("ask 0");
    let mut answered = 0;
    emit("begin", nil);
    let result = listen Worker.execute("${what} ${count}") { ${handler} };
    match result {
        Ok(done) => emit("end", done.median ?? answered),
        Err(e) => panic(e.message),
    }
}
`;
}

/** Such a program, compiled, with the file of its agent. */
export function moduleOf(source: string, agent: string) {
  const { manifest } = readManifest(`
[project]
name = "bench"
version = "1"
entry = "main.conc"
[agents.worker]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(agent)}]
input_format = "json"
`);
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => source, manifest });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return module;
}

export type Spent = { readonly cpuMs: number };
/** With the number in its last message. */
export type Measured = Spent & { readonly said: number };

export function spent(): Spent {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000 };
}

export function since(start: Spent): Spent {
  return { cpuMs: spent().cpuMs - start.cpuMs };
}

/** The same agent at the end of a bare pipe, without anything of ours; `answering` is done before each answer. */
export async function bare(
  file: string,
  prompt: string,
  answers: boolean,
  answering: () => void = () => {},
): Promise<Measured> {
  const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const send = (text: string): void => void child.stdin.write(`${JSON.stringify({ type: 'prompt', text })}\n`);
  send('ask 0');
  await untilResult(child, false, answering);
  const start = spent();
  send(prompt);
  const said = await untilResult(child, answers, answering);
  const taken = since(start);
  child.kill();
  return { ...taken, said };
}

async function untilResult(
  child: { readonly stdin: Writable; readonly stdout: Readable },
  answers: boolean,
  answering: () => void,
): Promise<number> {
  const reply = '{"type":"response","in_reply_to":"question","in_reply_to_id":"q","value":"yes"}\n';
  let rest = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const message: { type: string; median?: number } = JSON.parse(line);
      if (message.type === 'result') return message.median ?? 0;
      if (!answers) continue;
      answering();
      child.stdin.write(reply);
    }
  }
  throw new Error('the agent ended early');
}
