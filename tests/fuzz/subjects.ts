import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assert } from '@concerto/base';
import { disassemble, formatModule, parseModule, validateModule } from '@concerto/ir';
import { checkProgram, compileProgram, loadProgram, parseSource, readManifest } from '@concerto/language';
import { encodeEvent, parseAgentLine, readStoredEvent } from '@concerto/protocol';
import { createSignalParser, mergeEvents, type SignalEvent } from '@concerto/signals';
import { createVm, run } from '@concerto/vm';
import { checkText, fuzzCase, readCorpus } from '../../packages/language/test/fuzz.ts';
import { translate } from '../../packages/runtime/src/agent/translate.ts';
import { type CalledApp, callApp } from '../../packages/server/test/called-app.ts';
import { type Dice, mutatedJson, mutatedText, type Texts } from './mutate.ts';
import { wireNames, wireSubject } from './wire-subjects.ts';

/** One kind of input: how a case is made, and what must hold of every one. Throws when it does not. */
export type Subject = {
  readonly make: (dice: Dice, seed: number) => string;
  readonly check: (input: string) => void | Promise<void>;
};

const root = join(import.meta.dirname, '../..');

export const subjectNames = ['conc', 'ir', 'manifest', 'signals', 'ndjson', 'http', ...wireNames] as const;
export type SubjectName = (typeof subjectNames)[number];

/** Each is made when it is wanted: their corpora take a while. */
export const subjects: Readonly<Record<SubjectName, () => Subject>> = {
  conc: programs,
  ir: compiled,
  manifest: manifests,
  signals: signalTexts,
  ndjson: agentLines,
  http: bodies,
  agui: () => wireSubject('agui'),
  chat: () => wireSubject('chat'),
  'chat-stream': () => wireSubject('chat-stream'),
  streams: () => wireSubject('streams'),
  beta: () => wireSubject('beta'),
  runs: () => wireSubject('runs'),
  mcp: () => wireSubject('mcp'),
};

function programs(): Subject {
  const corpus = readCorpus();
  return { make: (_dice, seed) => fuzzCase(seed, corpus), check: checkText };
}

function compiled(): Subject {
  const corpus = texts(
    readCorpus().flatMap(({ text }) => {
      const { program, diagnostics } = loadProgram({
        entry: 'main.conc',
        readFile: (path) => (path === 'main.conc' ? text : undefined),
        parse: parseSource,
      });
      const checked = checkProgram({ program });
      const isWrong = [...diagnostics, ...checked.diagnostics].some(({ severity }) => severity === 'error');
      return isWrong ? [] : [formatModule(compileProgram({ program, facts: checked.facts }))];
    }),
  );
  return { make: (dice) => mutatedJson(dice, corpus), check: runModule };
}

const fuel = 2_000;

/** Whatever is let in runs, or fails as a program does. */
function runModule(input: string): void {
  const parsed = parseModule(input);
  if (!parsed.ok || validateModule(parsed.value) !== undefined) return;
  disassemble(parsed.value);
  run(createVm(parsed.value, { entry: 'main' }), fuel);
}

function manifests(): Subject {
  const files = readdirSync(join(root, 'examples')).map((name) => join(root, 'examples', name, 'Concerto.toml'));
  const corpus = texts(files.flatMap(readIfThere));
  return {
    make: (dice) => mutatedText(dice, corpus),
    check: (input) => {
      for (const { span } of readManifest(input).diagnostics) {
        assert(span.start >= 0 && span.end >= span.start && span.end <= input.length, 'a span is in its text');
      }
    },
  };
}

function signalTexts(): Subject {
  const file = join(root, 'packages/signals/test/vectors/signals.json');
  const vectors: readonly { readonly chunks: readonly string[] }[] = JSON.parse(readFileSync(file, 'utf8'));
  const corpus = texts(vectors.map(({ chunks }) => chunks.join('')));
  return {
    make: (dice) => mutatedText(dice, corpus),
    check: (input) => {
      const middle = input.length >> 1;
      const whole = JSON.stringify(mergeEvents(signalsOf([input])));
      const halves = JSON.stringify(mergeEvents(signalsOf([input.slice(0, middle), input.slice(middle)])));
      assert(whole === halves, 'what is read does not depend on where it was cut');
    },
  };
}

function signalsOf(pieces: readonly string[]): readonly SignalEvent[] {
  const events: SignalEvent[] = [];
  const parser = createSignalParser({ now: () => 0 }, (event) => events.push(event));
  for (const piece of pieces) parser.push(piece);
  parser.finish();
  return events;
}

function agentLines(): Subject {
  const corpus = texts(samplesOf('agent-wire'));
  const turn = { agent: 'a', number: 1, callId: 'turn-1', toolName: () => 'Bash', knowsMessage: () => true };
  return {
    make: (dice) => mutatedJson(dice, corpus).replaceAll('\n', ' '),
    check: (input) => {
      const line = parseAgentLine(input);
      if (line.kind !== 'message' || line.message.type === 'init_ack') return;
      const heard = translate(turn, line.message, line.raw, () => 'req-1');
      for (const event of heard.shown) {
        const read = readStoredEvent(encodeEvent(event, '2026-01-01T00:00:00.000Z').replace(/\}$/, ',"seq":1}'));
        assert(read !== undefined && read.type !== 'unknown', 'what is shown can be read');
      }
    },
  };
}

const calls: Texts = [
  'POST /api/sessions',
  'POST /api/sessions/nobody/messages',
  'PATCH /api/sessions/nobody/messages/m1',
  'PUT /api/sessions/nobody/messages/order',
  'POST /api/sessions/nobody/requests/r1',
  'POST /api/sessions/nobody/fork',
  'PATCH /api/sessions/nobody',
  'PUT /api/pool',
  'PUT /api/rules',
  'POST /api/rules/try',
  'POST /api/tokens',
];
/** An app keeps what it is told: after so many calls there is a fresh one. */
const callsOfAnApp = 2_000;

function bodies(): Subject {
  const corpus = texts(samplesOf('http'));
  let app: CalledApp | undefined;
  let asked = 0;
  return {
    make: (dice) => `${dice.of(calls)}\n${mutatedJson(dice, corpus)}`,
    check: async (input) => {
      if (asked % callsOfAnApp === 0) {
        await app?.close();
        app = callApp();
      }
      asked += 1;
      assert(app !== undefined, 'there is an app');
      const end = input.indexOf('\n');
      const [method = '', path = ''] = input.slice(0, end).split(' ');
      const response = await app.ask(path, { method, body: input.slice(end + 1) });
      assert(response.status < 500, `${method} ${path} is ${response.status}: ${app.complaints.at(-1)}`);
      await response.text();
    },
  };
}

function samplesOf(folder: string): readonly string[] {
  const place = join(root, 'packages/protocol/test/corpus', folder);
  const files = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'));
  return files.map((file) => readFileSync(join(place, file), 'utf8').trim());
}

function readIfThere(file: string): readonly string[] {
  try {
    return [readFileSync(file, 'utf8')];
  } catch {
    return [];
  }
}

function texts(list: readonly string[]): Texts {
  const [first, ...rest] = list;
  assert(first !== undefined, 'a corpus has a text');
  return [first, ...rest];
}
