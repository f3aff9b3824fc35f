import { Blobs, memoryEventLog } from '@concerto/log';
import { ModelFailure, type ModelPart, type ModelTurn } from '@concerto/models';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../ports.ts';
import type { WorkerOutput } from '../worker.ts';
import { AssistantFiles } from './assistant-files.ts';
import { AssistantHistory } from './assistant-history.ts';
import { AssistantWorker } from './assistant-worker.ts';

const log = memoryEventLog({ now: () => 0 });
let worker: AssistantWorker;

afterEach(async () => {
  await worker.stop();
});

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2, cachedInputTokens: 0 };
const facts = {
  toolCalls: [],
  finishReason: 'stop',
  usage,
  cost: 0.5,
  model: 'm',
  provider: 'p',
  latencyMs: 0,
  attempts: 1,
} as const;

/** A model in the test's hand: it says what it is given, when it is given it. */
function openWorker() {
  const turns: ModelTurn[] = [];
  let give: (part: ModelPart | Error) => void = () => {};
  let wanted: () => void = () => {};
  const asked = () =>
    new Promise<void>((resolve) => {
      wanted = resolve;
    });
  let nextAsked = asked();
  async function* stream(turn: ModelTurn): AsyncGenerator<ModelPart> {
    turns.push(turn);
    for (;;) {
      const next = new Promise<ModelPart | Error>((resolve, reject) => {
        give = resolve;
        turn.signal?.addEventListener('abort', () => reject(new Error('left')), { once: true });
      });
      wanted();
      const part = await next;
      if (part instanceof Error) throw part;
      yield part;
      if (part.type === 'reply') return;
    }
  }
  const execute = () => Promise.reject(new Error('not streamed'));
  worker = new AssistantWorker({
    name: 'helper',
    marker: 'm',
    files: new AssistantFiles({
      session: 's',
      log,
      blobs: new Blobs(log, () => 0),
      tenure: { patiently: (work) => work(false) },
    }),
    assistant: {
      models: { stream, execute, fault: () => undefined },
      connection: 'c',
      mode: 'native',
      functions: [],
      servers: {},
      directory: '.',
    },
    history: new AssistantHistory(),
    tools: new Map(),
    close: async () => {},
    mintId: (prefix) => prefix,
    clock: systemClock,
  });
  const heard: WorkerOutput[] = [];
  void (async () => {
    for await (const batch of worker.output) heard.push(...batch);
  })();
  return {
    turns,
    heard,
    /** When the model is waited for. */
    say: async (part: string | Error) => {
      await nextAsked;
      nextAsked = asked();
      give(typeof part === 'string' ? { type: 'text', text: part } : part);
    },
    end: async (text = '') => {
      await nextAsked;
      nextAsked = asked();
      give({ type: 'reply', reply: { text, ...facts } });
    },
    shown: () => heard.map(nameOf),
  };
}

function nameOf(output: WorkerOutput): string {
  if (output.kind === 'events') return output.events.map(({ type }) => type).join();
  return output.kind === 'message' ? output.message.type : output.kind;
}

test('frozen, it says nothing until it is thawed', async () => {
  const { say, end, shown } = openWorker();
  await worker.prompt({ text: 'Hi' });
  await say('One');
  await expect.poll(shown).toEqual(['content']);
  expect(worker.control({ verb: 'pause', id: 'p1', force: true })).toBe('holds');
  await say('Two');
  await new Promise((resolve) => setImmediate(resolve));
  expect(shown()).toEqual(['content']);
  worker.control({ verb: 'resume', id: 'r1', force: true });
  await end();
  await expect.poll(shown).toEqual(['content', 'ack', 'content', 'usage', 'result']);
});

test('what is said into a turn that fails is heard in the next, and nobody speaks into one that is over', async () => {
  const { say, end, turns, shown } = openWorker();
  await worker.prompt({ text: 'Hi' });
  await say('Hel');
  await worker.steer({ id: 'q1', text: 'Louder' });
  await say(new ModelFailure('network', 'gone'));
  await expect.poll(shown).toEqual(['content', 'content', 'error']);
  await expect(worker.steer({ id: 'q2', text: 'Hello?' })).rejects.toThrow('no turn is running');
  await worker.prompt({ text: 'Again' });
  await end('Yes');
  await expect.poll(() => shown().at(-1)).toBe('result');
  expect(turns[1]?.messages).toEqual([
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hel' },
    { role: 'user', content: 'Louder' },
    { role: 'user', content: 'Again' },
  ]);
});

test('money is counted in millionths', async () => {
  const { end, heard } = openWorker();
  await worker.prompt({ text: 'Hi' });
  await end();
  await expect
    .poll(() => heard.find(({ kind }) => kind === 'usage'))
    .toMatchObject({
      usage: { inputTokens: 1, outputTokens: 1, costMicroUsd: 500_000 },
    });
});

test('a pause that nobody confirmed before the turn was over is confirmed then; the next prompt is not held by it', async () => {
  const { say, end, shown } = openWorker();
  await worker.prompt({ text: 'Hi' });
  await say('One');
  worker.control({ verb: 'pause', id: 'p1' });
  await end();
  await expect.poll(shown).toEqual(['content', 'usage', 'result', 'ack']);
  await worker.prompt({ text: 'And?' });
  await end();
  await expect.poll(() => shown().filter((name) => name === 'result')).toHaveLength(2);
});

test('it ends once, in the middle of a word, and says so last', async () => {
  const { say, shown } = openWorker();
  await worker.prompt({ text: 'Hi' });
  await say('One');
  await Promise.all([worker.stop(), worker.stop()]);
  await expect.poll(() => shown().at(-1)).toBe('gone');
  expect(shown().filter((name) => name === 'gone')).toHaveLength(1);
  await expect(worker.prompt({ text: 'More' })).rejects.toThrow('was ended');
});
