import { readManifest } from '@concerto/language';
import { type EventLog, memoryEventLog } from '@concerto/log';
import { SessionRecord } from '@concerto/protocol';
import { afterEach, expect, test } from 'vitest';
import { SessionStore } from '../src/index.ts';
import { programEntry } from './program-entry.ts';
import { openStage, type Stage } from './session-stage.ts';

const user = { actor: 'user:ann', key: undefined };
let stage: Stage;
afterEach(async () => {
  await stage.close();
});

async function records(log: EventLog, session: string): Promise<readonly SessionRecord[]> {
  const { entries } = await log.read({ session, stream: 'domain', after: 0, limit: 1_000 });
  return entries.map(({ data }) => SessionRecord.parse(JSON.parse(data)));
}

/** Asks, and takes its time to end. */
const slow = `
console.log(JSON.stringify({ type: 'question', id: 'q', question: 'first?' }));
process.on('SIGTERM', () => setTimeout(() => process.exit(0), 1_500));
setInterval(() => {}, 1_000);
`;

const source = `agent Worker { connector: asks }
async fn main() -> Result<String, String> {
    let done = listen Worker.execute("first?") {
        "question" => |q: Question| { await emit("ask", q.question) },
    };
    Ok("over")
}`;

const declared = readManifest(
  `[agents.asks]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(['-e', slow])}\n`,
);

/** A program whose agent waits for a person, put away. */
async function resting(log: EventLog): Promise<{ readonly id: string; readonly child: string }> {
  stage = openStage({ agents: [], entries: [programEntry('asks', source, declared)], log });
  const started = await stage.start({ program: 'asks' });
  if (!started.ok) throw new Error(started.error.message);
  const { id } = started.value;
  const child = String((await stage.until(id, ({ childSession }) => childSession !== undefined)).childSession);
  const isPutAway = async (): Promise<boolean> => {
    const last = (await records(log, id)).at(-1);
    return last?.type === 'released' && last.rests !== undefined;
  };
  await expect.poll(isPutAway, { timeout: 30_000, interval: 50 }).toBe(true);
  return { id, child };
}

async function endsAfter(log: EventLog, { id, child }: { readonly id: string; readonly child: string }): Promise<void> {
  await expect.poll(async () => (await stage.sessions.get(id))?.status, { timeout: 30_000 }).toBe('cancelled');
  const endOf = async (session: string): Promise<number> =>
    (await records(log, session)).find(({ type }) => type === 'ended')?.at ?? Number.NaN;
  expect(await endOf(child)).toBeLessThanOrEqual(await endOf(id));
  expect(await stage.sessions.get(child)).toMatchObject({ status: 'cancelled' });
}

test('2.16 one that rests is cancelled after its agents: what it asked is withdrawn at once, and nobody is asked any more', {
  timeout: 60_000,
}, async () => {
  const log = memoryEventLog({ now: Date.now });
  const tree = await resting(log);
  const cancelled = await stage.sessions.control(tree.id, 'cancel', user);
  expect(cancelled).toMatchObject({ ok: true, value: { status: 'cancelling' } });
  expect(await stage.sessions.requests(tree.id)).toMatchObject({ requests: [] });
  await endsAfter(log, tree);
  const asked = (await records(log, tree.child)).find(({ type }) => type === 'control-requested');
  expect(asked).toMatchObject({ kind: 'cancel', actor: 'user:ann' });
});

test('2.16 whoever comes next goes on with it, also where nobody knows the program any more', {
  timeout: 60_000,
}, async () => {
  const log = memoryEventLog({ now: Date.now });
  const tree = await resting(log);
  await stage.stop();
  // As one that was killed in the middle of it leaves it.
  const wish = { type: 'control', kind: 'cancel', requestId: 'c_1' } as const;
  await new SessionStore(log).execute(tree.id, { at: Date.now(), actor: 'user:ann', ...wish });
  expect(await stage.sessions.get(tree.id)).toMatchObject({ status: 'cancelling' });
  stage = openStage({ agents: [], log });
  await endsAfter(log, tree);
});

test('2.16 one that rests, and of which nothing goes on below, is cancelled at once', { timeout: 60_000 }, async () => {
  const log = memoryEventLog({ now: Date.now });
  const tree = await resting(log);
  await stage.stop();
  expect(await stage.sessions.control(tree.id, 'cancel', user)).toMatchObject({ value: { status: 'cancelled' } });
  await endsAfter(log, tree);
});
