import type { Json } from '@concerto/base';
import { Blobs, memoryEventLog } from '@concerto/log';
import type { ModelPart, ModelReply, Models } from '@concerto/models';
import { type AgentEvent, encodeEvent, type LlmContent, type PublicEvent, textContent } from '@concerto/protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AssistantFiles } from './assistant-files.ts';
import { AssistantHistory, type Utterance } from './assistant-history.ts';
import { recallConversation } from './assistant-recall.ts';
import { WithFiles } from './assistant-result.ts';
import type { AssistantTool } from './assistant-tools.ts';
import { runTurn, type Steer } from './assistant-turn.ts';

/** One step of a model: what it thinks and says, in pieces, and what it calls. */
type Step = {
  readonly pieces: readonly { readonly thought: boolean; readonly text: string }[];
  readonly calls: readonly { readonly name: string; readonly args: Json }[];
  /** Said into the turn while it works. */
  readonly steers: readonly Utterance[];
  /** The turn is interrupted after so many of its pieces; none when it is not. */
  readonly stopAfter: number | undefined;
};

const picture = { inlineData: { mimeType: 'image/png', data: 'aGk=', title: 'a.png' } };
/** Too large for an event. */
const large = { inlineData: { mimeType: 'image/png', data: Buffer.alloc(1_100_000).toString('base64') } };
/** As the door has it: its words, and its parts. */
const shown: Utterance = { text: 'See\n[picture, 2 B, a.png]', parts: [{ text: 'See' }, picture] };

const text = fc.constantFrom('one ', 'two', '\n', '  ', 'a\nb', '§', 'three.');
const step: fc.Arbitrary<Step> = fc.record({
  pieces: fc.array(fc.record({ thought: fc.boolean(), text }), { maxLength: 4 }),
  calls: fc.array(
    fc.record({
      name: fc.constantFrom('look', 'fail', 'nothing', 'draw', 'paint'),
      args: fc.constantFrom<Json>({}, { a: 1 }, 'ls', [1]),
    }),
    { maxLength: 3 },
  ),
  steers: fc.array(fc.constantFrom<Utterance>({ text: 'up' }, shown), { maxLength: 2 }),
  stopAfter: fc.option(fc.nat({ max: 6 }), { nil: undefined, freq: 6 }),
});
const signalStep: fc.Arbitrary<Step> = fc.record({
  pieces: fc
    .constantFrom(
      ['§RESPOND: Hello', '\n§END:'],
      ['§THINK: Hm.\n§CALLS: [{"name":"look","args":{"a":1}}]\n', '§EXECUTE:'],
      ['§RESPOND: First.\n§CALLS: [{"name":"look","args":{}},{"name":"fail","args":{}}]\n§EXECUTE:'],
      ['§CALLS: [{"name": nonsense}]\n§EXECUTE:'],
      ['§RESPOND: half\n§CALLS: what?\n§EXECUTE:'],
    )
    .map((parts) => parts.map((piece) => ({ thought: false, text: piece }))),
  calls: fc.constant([]),
  steers: fc.array(fc.constantFrom<Utterance>({ text: 'up' }, shown), { maxLength: 2 }),
  stopAfter: fc.option(fc.nat({ max: 3 }), { nil: undefined, freq: 6 }),
});

/** A model that never keeps to the signals: its turn ends, and all its slips are recalled. */
const nonsense: Step = {
  pieces: [{ thought: false, text: '§CALLS: [{"name": nonsense}]\n§EXECUTE:' }],
  calls: [],
  steers: [],
  stopAfter: undefined,
};

const tools: ReadonlyMap<string, AssistantTool> = new Map(
  [
    { name: 'look', run: async () => ({ seen: 'a tree' }) },
    { name: 'draw', run: async () => new WithFiles('drawn', [picture]) },
    { name: 'paint', run: async () => new WithFiles('', [large]) },
    { name: 'fail', run: async () => Promise.reject(new Error('it is dark')) },
  ].map((tool) => [tool.name, { ...tool, description: '', parameters: {}, asks: false }]),
);

function contentOf({ text: words, parts }: Utterance): LlmContent {
  return parts === undefined ? textContent(words, 'user') : { role: 'user', parts: [...parts] };
}

/** Plays a turn through the real loop; what it shows goes to the log as a session would write it. */
async function play(
  turn: {
    readonly prompt: Utterance;
    readonly files: AssistantFiles;
    readonly steps: readonly Step[];
    readonly mode: 'native' | 'signals';
  },
  history: AssistantHistory,
  mint: (prefix: string) => string,
): Promise<readonly PublicEvent[]> {
  const events: PublicEvent[] = [{ type: 'start', objective: contentOf(turn.prompt) }];
  const stop = new AbortController();
  const steered: Steer[] = [];
  const steps = [...turn.steps];
  const models = {
    stream: async function* stream(): AsyncGenerator<ModelPart> {
      const { pieces, calls, steers, stopAfter } = steps.shift() ?? {
        pieces: [],
        calls: [],
        steers: [],
        stopAfter: undefined,
      };
      for (const [index, piece] of pieces.entries()) {
        if (index === stopAfter) stop.abort();
        stop.signal.throwIfAborted();
        yield piece.thought ? { type: 'thought', text: piece.text } : { type: 'text', text: piece.text };
      }
      for (const said of steers) steered.push({ id: mint('q'), ...said });
      if (stopAfter !== undefined && stopAfter >= pieces.length) queueMicrotask(() => stop.abort());
      const metadata = { google: { thoughtSignature: `signed ${calls.length}` } };
      const toolCalls = calls.map(({ name, args }, index) => ({
        id: `provider-${index}`,
        name,
        arguments: args,
        ...(index === 0 ? { metadata } : {}),
      }));
      const reasoning =
        calls.length === 2 ? { reasoning: [{ text: 'Hm.', metadata: { anthropic: { signature: 's' } } }] } : {};
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2, cachedInputTokens: 0 };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the loop reads no more of a reply
      yield { type: 'reply', reply: { toolCalls, usage, finishReason: 'stop', ...reasoning } as unknown as ModelReply };
    },
    execute: async () => ({
      text: `summed up ${mint('s')}`,
      usage: { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0 },
    }),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the loop asks for nothing else
  } as unknown as Models;
  history.add({ kind: 'user', ...turn.prompt });
  await runTurn({
    spec: { models, connection: 'c', mode: turn.mode, functions: [], servers: {}, directory: '.', maxSteps: 20 },
    history,
    files: turn.files,
    marker: 'm',
    tools,
    renewTools: async () => undefined,
    voice: {
      show: (...shown: readonly AgentEvent[]) => void events.push(...shown),
      note: (message, fields = {}) =>
        void events.push({ type: 'subagentAddJson', callId: 'turn', title: 'log', data: { ...fields, message } }),
      used: () => {},
      ask: () => Promise.reject(new Error('nobody is there')),
      after: () => () => {},
      recorded: async () => {},
    },
    signal: stop.signal,
    mintId: mint,
    now: () => 0,
    boundary: async () => stop.signal.throwIfAborted(),
    unfrozen: async () => {},
    takeSteered: () => steered.splice(0),
    close: () => steered.length === 0,
  }).catch(() => undefined);
  return [...events, { type: 'turnComplete', outcome: 'done' }];
}

test.each([
  ['native', step],
  ['signals', signalStep],
] as const)(
  '%s: whatever was said, called, steered, cut off and summed up, the conversation read back is the one that was',
  async (mode, some) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(some, { maxLength: 4 }), { minLength: 1, maxLength: 3 }), async (turns) => {
        let minted = 0;
        const mint = (prefix: string): string => `${prefix}_${++minted}`;
        const history = new AssistantHistory([], 60);
        const log = memoryEventLog({ now: () => 0 });
        const files = new AssistantFiles({
          session: 's',
          log,
          blobs: new Blobs(log, () => 0),
          tenure: { patiently: (work) => work(false) },
        });
        for (const [index, steps] of turns.entries()) {
          const prompt = index % 2 === 0 ? { text: `prompt ${index}` } : shown;
          const events = await play({ prompt, files, steps, mode }, history, mint);
          const entries = events.map((event) => ({
            type: event.type,
            data: encodeEvent(event, '2026-01-01T00:00:00.000Z'),
          }));
          await log.append({ session: 's', streams: [{ stream: 'events', entries }] });
        }
        const recalled = new AssistantHistory(await recallConversation(log, 's'));
        expect(recalled.said).toEqual(history.said);
      }),
      { numRuns: 200, examples: mode === 'signals' ? [[[Array.from({ length: 4 }, () => nonsense)]]] : [] },
    );
  },
);
