import type { FoldedEvent } from '@concerto/protocol';
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from 'ai';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ChatFold, ChatTranscript, isTransient } from '../src/index.ts';
import { recordedLogs } from './recorded-logs.ts';

type Chunk = ReturnType<ChatFold['take']>[number];

/** Their transport and their reader over what we say, as text. */
async function read(chunks: readonly Chunk[], message?: UIMessage): Promise<UIMessage | undefined> {
  const text = `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
  const transport = new DefaultChatTransport({ fetch: () => Promise.resolve(new Response(text)) });
  const stream = await transport.reconnectToStream({ chatId: 'c' });
  expect(stream).not.toBeNull();
  if (stream === null) return undefined;
  const failures: unknown[] = [];
  const onError = (error: unknown): void => void failures.push(error);
  let last = message;
  for await (const each of readUIMessageStream({ stream, onError, ...(message === undefined ? {} : { message }) })) {
    last = each;
  }
  const told = chunks.flatMap((chunk) => (chunk.type === 'error' ? [chunk.errorText] : []));
  expect(failures.map((error) => (error instanceof Error ? error.message : error))).toEqual(told);
  return last;
}

/** What is said of each turn. */
function turnsOf(events: readonly FoldedEvent[]): readonly (readonly Chunk[])[] {
  const fold = new ChatFold('s');
  const turns: Chunk[][] = [];
  for (const chunk of events.flatMap((event) => fold.take(event))) {
    if (chunk.type === 'start') turns.push([]);
    turns.at(-1)?.push(chunk);
  }
  return turns;
}

const textOf = (parts: UIMessage['parts']): string =>
  parts.map((part) => (part.type === 'text' || part.type === 'reasoning' ? part.text : '')).join('');

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const withoutPrompt = (parts: UIMessage['parts'] = []): UIMessage['parts'] =>
  parts.filter((part) => !(part.type === 'data-user' && !Reflect.has(Object(Reflect.get(part, 'data')), 'isSteer')));

describe.each(recordedLogs)('AI SDK: $name', ({ events }) => {
  test('every turn is a valid message for their reader, and the history has the same', async () => {
    const transcript = new ChatTranscript('s');
    for (const event of events) transcript.take(event);
    const answers = transcript.messages.filter(({ role }) => role === 'assistant');
    const turns = turnsOf(events);
    expect(turns.length).toBeGreaterThan(0);
    expect(answers).toHaveLength(turns.length);
    for (const [index, chunks] of turns.entries()) {
      const message = await read(chunks);
      expect(asJson(withoutPrompt(message?.parts))).toEqual(asJson(answers[index]?.parts));
      expect(message?.id).toBe(answers[index]?.id);
    }
  });

  test('a client that pauses anywhere and goes on has the same text and the same tools', async () => {
    const whole = await Promise.all(turnsOf(events).map((chunks) => read(chunks)));
    await fc.assert(
      fc.asyncProperty(fc.nat(events.length - 1), async (pause) => {
        const fold = new ChatFold('s');
        const messages: UIMessage[] = [];
        let chunks: Chunk[] = [];
        const flush = async (): Promise<void> => {
          const starts = chunks[0]?.type === 'start';
          const message = await read(chunks, starts ? undefined : messages.pop());
          if (message !== undefined) messages.push(message);
          chunks = [];
        };
        for (const [index, event] of events.entries()) {
          for (const chunk of fold.take(event)) {
            if (chunk.type === 'start' && chunks.length > 0) await flush();
            if (!isTransient(chunk)) chunks.push(chunk);
          }
          if (index !== pause || chunks.length === 0) continue;
          chunks.push(...fold.paused());
          await flush();
          chunks.push(...fold.goOn());
        }
        await flush();
        expect(messages.map(({ parts }) => textOf(parts))).toEqual(whole.map((each) => textOf(each?.parts ?? [])));
        const tools = (message: UIMessage | undefined): unknown =>
          asJson(message?.parts.filter(({ type }) => type === 'dynamic-tool'));
        expect(messages.map(tools)).toEqual(whole.map(tools));
      }),
      { numRuns: 8 },
    );
  });
});
