import { readManifest } from '@concerto/language';
import { type Append, type EventLog, memoryEventLog } from '@concerto/log';
import { afterEach, expect, test } from 'vitest';
import { type Clock, systemClock } from '../src/index.ts';
import { programEntry } from './program-entry.ts';
import { openStage, type Stage } from './session-stage.ts';

/** Asks three times, one after the other, and tells what it heard. */
const script = `
const heard = [];
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { value } = line.startsWith('{') ? JSON.parse(line) : {};
  if (value !== undefined) heard.push(value);
  const next = heard.length < 3 ? { type: 'question', id: heard.length, question: 'go on?' } : { type: 'result', heard };
  console.log(JSON.stringify(next));
});
`;

const { manifest } = readManifest(
  `[project]\nname = "p"\nversion = "1"\nentry = "main.conc"\n[agents.asks]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["-e", ${JSON.stringify(script)}]\n`,
);

const answers = programEntry(
  'answers',
  `agent Coder { connector: asks }
fn main() -> Result<String, AgentError> {
    let mut asked = 0;
    let r = listen Coder.execute("go") { "question" => |q| { asked += 1; "\${asked}" } }?;
    Ok("\${r.heard}")
}`,
  { manifest },
);

/** Before it answers it does something that others see. */
const tellsFirst = programEntry(
  'tellsFirst',
  `agent Coder { connector: asks }
fn main() -> Result<String, AgentError> {
    let r = listen Coder.execute("go") { "question" => |q| { std::time::sleep(20); "yes" } }?;
    Ok("\${r.heard}")
}`,
  { manifest },
);

type Seen = { readonly session: string; readonly types: readonly string[]; readonly next: Seen | undefined };

/** A log that tells what was appended in which order. */
function watched(joins: boolean): { readonly log: EventLog; readonly seen: Seen[] } {
  const real = memoryEventLog({ now: Date.now });
  const seen: Seen[] = [];
  const typesOf = ({ streams }: Append): string[] =>
    streams.flatMap(({ stream, entries }) => entries.map(({ type }) => `${stream}:${type}`));
  const append: EventLog['append'] = async (request) => {
    let followed: Append | undefined;
    const next =
      request.next &&
      ((positions: Parameters<NonNullable<Append['next']>>[0]) => (followed = request.next?.(positions)));
    const appended = await real.append(next === undefined ? request : { ...request, next });
    if (appended.kind !== 'appended') return appended;
    const beside = followed && { session: followed.session, types: typesOf(followed), next: undefined };
    seen.push({ session: request.session, types: typesOf(request), next: beside });
    return appended;
  };
  return { log: { ...real, joins, append }, seen };
}

/** What is put off for a moment is put off for long: a busy machine is not a handler that takes its time. */
const patient: Clock = {
  ...systemClock,
  at: (instant, call) => systemClock.at(instant - systemClock.now() <= momentMs ? instant + 60_000 : instant, call),
};
const momentMs = 10;

let stage: Stage;
afterEach(async () => {
  await stage.close();
});

async function run(program: string, log: EventLog): Promise<{ readonly id: string; readonly result: unknown }> {
  stage = openStage({ agents: [], entries: [answers, tellsFirst], log, clock: patient });
  const started = await stage.start({ program });
  if (!started.ok) throw new Error(started.error.message);
  const { id } = started.value;
  await stage.until(id, ({ type }) => type === 'finish');
  return { id, result: (await stage.sessions.get(id))?.result };
}

function opens({ types }: Seen): boolean {
  return types.includes('domain:request-opened');
}

test('a question that a handler answers at once is on record with its answer, in one commit', async () => {
  const { log, seen } = watched(true);
  const { id, result } = await run('answers', log);
  expect(result).toMatchObject({ text: '[1, 2, 3]' });
  expect(seen.filter(opens)).toEqual([]);
  const together = seen.flatMap(({ session, next }) => (session === id && next && opens(next) ? [next] : []));
  expect(together).toHaveLength(3);
  for (const { types } of together) {
    expect(types).toContain('domain:request-answered');
    expect(types).toContain('commands:answer');
    expect(types).toContain('journal:message');
    expect(types.indexOf('events:waitForInput')).toBeLessThan(types.indexOf('events:requestSettled'));
  }
});

test('where the store cannot write both at once it is on record before the handler hears it', async () => {
  const { log, seen } = watched(false);
  const { result } = await run('answers', log);
  expect(result).toMatchObject({ text: '[1, 2, 3]' });
  expect(seen.filter(opens)).toHaveLength(3);
});

test('nothing that a handler does is on record before the question is', async () => {
  const { log, seen } = watched(true);
  const { id, result } = await run('tellsFirst', log);
  expect(result).toMatchObject({ text: '[yes, yes, yes]' });
  const asked = seen.flatMap((one, at) => (opens(one) ? [at] : []));
  expect(asked).toHaveLength(3);
  // The sleep of each handler stands in the program's journal after it, and the answer after that.
  const written = seen.flatMap((one, at) => (one.session === id && one.types.includes('journal:line') ? [at] : []));
  for (const at of asked) {
    const child = seen[at]?.session;
    const sleeps = written.find((later) => later > at);
    const answered = seen.findIndex((one, later) => later > at && one.next?.session === child);
    expect(sleeps).toBeDefined();
    expect(answered).toBeGreaterThan(sleeps ?? Number.POSITIVE_INFINITY);
  }
});
