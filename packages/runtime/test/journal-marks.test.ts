import type { Json } from '@concerto/base';
import { buildProgram, readManifest } from '@concerto/language';
import { ProgramJournal, type ProgramWorld, runProgram } from '@concerto/runtime/program';
import { SnapshotError } from '@concerto/vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JournalTape } from '../src/program/journal-file.ts';

/** Statements that leave something behind: shared containers, closures over cells, stores, memories, tasks side by side. */
const steps = [
  'list.push(n);',
  'alias = list; list.push("a");',
  'n = n + add(2);',
  'emit("list", [list, alias]);',
  'let said = await emit("ask", [n, list.len()]); list.push(said);',
  'let (a, b) = await (asked("left", n), asked("right", n)); list.push([a, b]);',
  'kept.set("k${n}", list.len()); emit("kept", kept.get("k0"));',
  'talk.append("user", "n is ${n}"); emit("talk", talk.messages());',
  'let m = M.with_memory(talk).execute("say ${n}"); emit("model", m.is_ok());',
  'emit("twice", C.execute("the same").is_ok());',
  'std::time::sleep(1);',
  'let later = std::time::now_ms(); emit("time", later > 0);',
  'match risky(n) { Ok(v) => list.push(v), Err(e) => emit("err", e) }',
  'let mut turns = 0; while turns < 250000 { turns += 1; } n = n + turns - 250000;',
  'for i in 0..3 { if i == 1 { list.push(await emit("loop", i)); } }',
] as const;

function source(chosen: readonly string[]): string {
  return `
hashmap kept: HashMap<String, Any> = HashMap::new();
memory talk: Memory = Memory::new(5);
model M { provider: local, base: "m" }
@cache(ttl: 600)
model C { provider: local, base: "m" }
async fn asked(side: String, n: Int) -> Any { emit("asks", side); await emit(side, n) }
fn risky(n: Int) -> Result<Int, String> { if n > 2 { Err("too much") } else { Ok(n) } }
async fn main() {
    let mut n = 0;
    let mut list: Array<Any> = [];
    let mut alias: Array<Any> = [];
    let add = |by| { n += by; n };
${chosen.map((step) => `    { ${step} }`).join('\n')}
    emit("end", [n, list, alias]);
}`;
}

type Marked = { readonly text: string; readonly lines: number };
type Run = { readonly said: readonly string[]; readonly written: readonly string[]; readonly marks: readonly Marked[] };

/** Marked after every turn. `before` and `mark`: what an earlier run had left. */
class Tape implements JournalTape {
  readonly path = 'memory';
  readonly written: string[] = [];
  readonly marks;
  readonly made: Marked[] = [];
  line = 0;
  #before: readonly string[];

  constructor(before: readonly string[], mark?: Marked) {
    this.#before = mark === undefined ? before : [before[0] ?? '', ...before.slice(mark.lines)];
    const { made, written } = this;
    this.marks = {
      last: mark?.text,
      isDue: () => true,
      mark: async (text: string) => void made.push({ text, lines: written.length }),
      forget: () => {},
    };
  }

  next(): string | undefined {
    return this.#before[this.line++];
  }

  append(lines: readonly string[]): void {
    this.written.push(...lines);
  }

  startWriting(): void {}
  close(): void {}
  sync(): undefined {}
}

async function perform(text: string, before: readonly string[], mark?: Marked): Promise<Run> {
  const { manifest } = readManifest(
    '[project]\nname = "p"\nversion = "1"\nentry = "main.conc"\n[connections.local]\nprovider = "mock"\n',
  );
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => text, manifest });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  const said: string[] = [];
  const world: ProgramWorld = {
    emit: (channel, payload) => said.push(`${channel}: ${payload.shown}`),
    print: (line) => said.push(line),
    log: (_level, line) => said.push(line),
    ask: async (channel, payload): Promise<Json> => {
      said.push(`${channel}? ${payload.shown}`);
      return `${channel}!`;
    },
    environment: { API_TOKEN: 'secret-token' },
    directory: '/',
    projectDirectory: '/',
    mockModels: true,
  };
  const tape = new Tape(before, mark);
  const { environment } = world;
  const journal = new ProgramJournal(module, {
    tape,
    replayOnly: false,
    keepsAgents: true,
    arguments: {},
    environment,
  });
  const outcome = await runProgram(module, world, { entry: 'main', journal });
  said.push(outcome.status === 'done' ? 'done' : outcome.failure.message);
  return { said, written: tape.written, marks: tape.made };
}

/** But for the times. */
function timeless(lines: readonly string[]): string[] {
  return lines.map((line) =>
    line.replaceAll(/"(at|latency_ms)":\d+/g, '"$1":0').replaceAll(/"value":1[0-9]{12}/g, '"value":0'),
  );
}

test('a run that goes on from a mark is the run that was replayed from its start', async () => {
  const programs = fc.array(fc.constantFrom(...steps), { minLength: 3, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(programs, fc.nat(), async (chosen, place) => {
      const text = source(chosen);
      const whole = await perform(text, []);
      expect(whole.said.at(-1)).toBe('done');
      const cut = 1 + (place % (whole.written.length - 1));
      const left = whole.written.slice(0, cut);
      const replayed = await perform(text, left);
      for (const mark of whole.marks.filter(({ lines }) => lines <= cut)) {
        const resumed = await perform(text, left, mark);
        expect(resumed.said).toEqual(replayed.said);
        expect(timeless(resumed.written)).toEqual(timeless(replayed.written));
      }
    }),
    { numRuns: 25 },
  );
}, 120_000);

test('what a program was told in secret is not in a mark', async () => {
  const told = `async fn main() { let t = std::env::get("API_TOKEN"); await emit("ask", 1); emit("t", t); }`;
  const { marks, written } = await perform(told, []);
  expect(marks.length).toBeGreaterThan(0);
  expect(marks.some(({ text }) => text.includes('secret-token'))).toBe(false);
  const last = marks.at(-1);
  if (last === undefined) throw new Error('nothing was marked');
  const resumed = await perform(told, written.slice(0, last.lines), last);
  expect(resumed.said.join()).toContain('secret-token');
});

test('a mark of another program or another machine is refused as such', async () => {
  const { marks, written } = await perform(source(['list.push(await emit("ask", 1));']), []);
  const mark = marks[0];
  if (mark === undefined) throw new Error('nothing was marked');
  const other = { ...mark, text: mark.text.replace('"version":2', '"version":1') };
  const again = perform(source(['list.push(await emit("ask", 1));']), written.slice(0, mark.lines), other);
  await expect(again).rejects.toThrow(SnapshotError);
  await expect(again).rejects.toThrow('another version');
});
