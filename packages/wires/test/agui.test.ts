import { HttpAgent, type Message } from '@ag-ui/client';
import { type FoldedEvent, noUsage } from '@concerto/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AguiFold, isHeardOut } from '../src/index.ts';
import { recordedLogs } from './recorded-logs.ts';

/** Their client over what we say, as text, without a network between. */
function listener(events: readonly object[], initialMessages: readonly Message[]): HttpAgent {
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const headers = { 'content-type': 'text/event-stream' };
  const fetch = (): Promise<Response> => Promise.resolve(new Response(text, { headers }));
  return new HttpAgent({ url: 'http://127.0.0.1/', fetch, initialMessages: [...initialMessages] });
}

const run = (index: number) => ({
  threadId: 'thread',
  runId: `run-${index}`,
  session: 's',
  carried: [],
  state: {},
  ignored: [],
});

/** The runs of a client that is there from an event on, each to where it is heard out. */
function runsFrom(events: readonly FoldedEvent[], from: number): readonly (readonly object[])[] {
  const fold = new AguiFold();
  for (const event of events.slice(0, from)) fold.take(event);
  const runs: object[][] = [[...fold.begin(run(0))]];
  let since = fold.narration.position;
  const finish = (): void => {
    runs.at(-1)?.push(...fold.finish(run(runs.length - 1), { since, usage: noUsage }));
  };
  for (const event of events.slice(from)) {
    const before = isHeardOut(fold.narration, []);
    runs.at(-1)?.push(...fold.take(event));
    if (!before && isHeardOut(fold.narration, [])) {
      finish();
      runs.push([...fold.begin(run(runs.length))]);
      since = fold.narration.position;
    }
  }
  finish();
  return runs;
}

async function messagesOf(runs: readonly (readonly object[])[]): Promise<readonly Message[]> {
  let messages: readonly Message[] = [];
  for (const events of runs) {
    const agent = listener(events, messages);
    let isHeard = false;
    const heard = (): void => {
      isHeard = true;
    };
    await agent.runAgent({}, { onRunFinishedEvent: heard, onRunErrorEvent: heard });
    expect(isHeard).toBe(true);
    messages = agent.messages;
  }
  return messages;
}

describe.each(recordedLogs)('AG-UI: $name', ({ events }) => {
  test('is valid for their own client, and whoever comes later has the same messages', async () => {
    const all = await messagesOf(runsFrom(events, 0));
    const late = await messagesOf(runsFrom(events, events.length));
    expect(all.length).toBeGreaterThan(1);
    expect(late).toEqual(all);
  });

  test('so has whoever joins anywhere', async () => {
    const all = await messagesOf(runsFrom(events, 0));
    await fc.assert(
      fc.asyncProperty(fc.nat(events.length), async (from) => {
        expect(await messagesOf(runsFrom(events, from))).toEqual(all);
      }),
      { numRuns: 10 },
    );
  });
});
