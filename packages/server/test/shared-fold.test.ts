import { setImmediate as tick } from 'node:timers/promises';
import { memoryEventLog } from '@concerto/log';
import { AguiFold, AguiListener, BetaFold, BetaListener, betaFrame, ChatFold, ChatListener } from '@concerto/wires';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type RecordedLog, recordedLogs } from '../../wires/test/recorded-logs.ts';
import {
  aguiWire,
  betaWire,
  chatWire,
  streamWire,
  tellAgui,
  tellBeta,
  tellChat,
  tellStream,
} from '../src/folded-wires.ts';
import { type LogTail, LogTails } from '../src/log-tails.ts';
import { SharedFold } from '../src/shared-fold.ts';

const session = 's';
type Events = RecordedLog['events'];
type Told = AsyncGenerator<Uint8Array | string>;

/** Somebody who comes after so many events, takes something after every so many appends, and differs from others. */
type Comer = { readonly joins: number; readonly pace: number; readonly choice: number };

/** Nobody's last words are said before all has happened: when that is depends on time, what is said does not. */
type Stay = { readonly isDone: () => boolean; readonly left: AbortSignal };

/** A wire as it is told to those who share it, and as it is for one who folds alone. */
type WireCase = {
  readonly shared: (tail: LogTail, events: Events) => (comer: Comer, stay: Stay) => Told;
  readonly alone: (events: Events, comer: Comer) => string;
  /** Where what is said together is a matter of time too: without that. */
  readonly without?: (text: string) => string;
};

/** So few that whoever waits a little is behind. */
const kept = { frames: 3, bytes: 1024 * 1024 };

const usersOf = (events: Events): readonly string[] =>
  events.flatMap((event) => (event.type === 'message' ? [event.message.id] : []));
const someOf = (ids: readonly string[], choice: number): readonly string[] =>
  ids.filter((_, index) => index % 3 === choice % 3);

function aguiListener(events: Events, { choice }: Comer): AguiListener {
  const carried = someOf(usersOf(events), choice).map((id) => ({ id, role: 'user', content: 'mine' }) as const);
  return new AguiListener({ threadId: 't', runId: 'r', session, carried, state: {}, ignored: [] }, []);
}

const agui: WireCase = {
  shared: (tail, events) => {
    const shared = new SharedFold(tail, aguiWire, kept);
    return (comer, { isDone, left }) => {
      const own = aguiListener(events, comer);
      const listener: Parameters<typeof tellAgui>[1] = {
        isOver: false,
        begin: (fold) => own.begin(fold),
        hears: (about) => own.hears(about),
        rest: (fold) => (isDone() ? (own.rest(fold) ?? '') : undefined),
      };
      return tellAgui(shared, listener, left);
    };
  },
  alone: (events, comer) => {
    const fold = new AguiFold();
    for (const event of events.slice(0, comer.joins)) fold.take(event);
    const listener = aguiListener(events, comer);
    let text = listener.begin(fold);
    for (const said of events.slice(comer.joins).flatMap((event) => fold.tell(event))) {
      if (said.about === undefined || listener.hears(said.about)) text += said.text;
    }
    return text + (listener.rest(fold) ?? '');
  },
};

/** From a message, from what was said, or from a position, by choice. */
function chatListener(events: Events, { joins, choice }: Comer): ChatListener {
  const users = usersOf(events);
  const words = users.slice(choice % users.length);
  const known = new Set(someOf(users, choice));
  const live = events[joins - 1]?.seq ?? 0;
  if (choice % 3 === 0) return new ChatListener({ from: 'position', live: Math.max(live - (choice % 7), 0) }, known);
  if (choice % 3 === 1) return new ChatListener({ from: 'words', words, live }, known);
  return new ChatListener({ from: 'message', id: `answer-${words[0]}`, live }, known);
}

const chat: WireCase = {
  shared: (tail, events) => {
    const shared = new SharedFold(tail, chatWire, kept);
    return (comer, { isDone, left }) => {
      const own = chatListener(events, comer);
      const listener: Parameters<typeof tellChat>[1] = {
        get isOver() {
          return own.isOver;
        },
        hasBegun: (fold) => own.hasBegun(fold),
        seek: (fold, event) => own.seek(fold, event),
        hears: (about) => own.hears(about),
        rest: (fold) => (isDone() ? (own.rest(fold) ?? '') : undefined),
      };
      return tellChat(shared, listener, left);
    };
  },
  alone: (events, comer) => {
    const fold = new ChatFold(session);
    const listener = chatListener(events, comer);
    const text = events.map((event) => (listener.isOver ? '' : listener.seek(fold, event))).join('');
    return `${text}${listener.isOver ? '' : (listener.rest(fold) ?? '')}data: [DONE]\n\n`;
  },
};

const beta: WireCase = {
  shared: (tail) => {
    const shared = new SharedFold(tail, betaWire, kept);
    return ({ choice }, { isDone, left }) => {
      const own = new BetaListener((choice % 9) - 1);
      const listener: Parameters<typeof tellBeta>[1] = {
        isOver: false,
        hears: (about) => own.hears(about),
        rest: (fold) => (isDone() ? (own.rest(fold) ?? '') : undefined),
      };
      return tellBeta(shared, listener, left);
    };
  },
  alone: (events, { joins, choice }) => {
    const fold = new BetaFold();
    const listener = new BetaListener((choice % 9) - 1);
    for (const event of events.slice(0, joins)) fold.settle(event);
    let text = betaFrame('start', JSON.stringify({ sessionId: session }));
    for (const said of events.flatMap((event) => fold.tell(event))) {
      if (said.about === undefined || listener.hears(said.about)) text += said.text;
    }
    return text + (listener.rest(fold) ?? '');
  },
};

const streamed = (events: Events): string =>
  events.map(({ seq, ...event }) => `${JSON.stringify({ ...event, seq })}\n`).join('');

const streams: WireCase = {
  shared: (tail, events) => {
    const shared = new SharedFold(tail, streamWire, kept);
    return ({ joins, choice }, { left }) => {
      const place = { position: joins, isUpToDate: true, isClosed: joins === events.length };
      // Some have a cursor that is later than any.
      return tellStream(shared, { ...place, texts: [], cursor: choice % 2 === 0 ? '0' : '999999999' }, left);
    };
  },
  alone: (events, { joins, choice }) =>
    `${streamed(events.slice(joins))}closed ${choice % 2 === 0 || joins === events.length}`,
  without: (text) => {
    const said = [...text.matchAll(/^event: data\ndata:(.*)$/gm)].flatMap(([, data]): Events => JSON.parse(data ?? ''));
    const cursors = [...text.matchAll(/"streamCursor":"(\d+)"/g)].map(([, cursor]) => cursor);
    const isClosed = text.endsWith('"streamClosed":true,"upToDate":true}\n\n');
    return `${streamed(said)}${isClosed ? 'closed' : 'open'} ${!cursors.includes('999999999')}`;
  },
};

/** All that a comer is told, while the session grows by these numbers of events. */
async function toldTo(
  wire: WireCase,
  events: Events,
  comers: readonly Comer[],
  grows: readonly number[],
): Promise<readonly string[]> {
  const log = memoryEventLog({ now: Date.now });
  const tails = new LogTails(log);
  const texts = comers.map(() => '');
  let isDone = false;
  await tails.with(session, async (tail) => {
    const open = wire.shared(tail, events);
    const turns = new Map<number, () => void>();
    const reading: Promise<void>[] = [];
    const read = async (told: Told, index: number, pace: number): Promise<void> => {
      for await (const said of told) {
        texts[index] += said.toString();
        if (pace > 1 && !isDone) await new Promise<void>((resolve) => turns.set(index, resolve));
      }
    };
    const joined = new Set<number>();
    const settle = async (): Promise<void> => {
      for (let turn = 0; turn < 3; turn++) await tick();
    };
    const letIn = async (position: number): Promise<void> => {
      for (const [index, comer] of comers.entries()) {
        if (joined.has(index) || comer.joins > position) continue;
        joined.add(index);
        reading.push(
          read(open(comer, { isDone: () => isDone, left: new AbortController().signal }), index, comer.pace),
        );
        await settle();
      }
    };
    let position = 0;
    for (let appends = 0; position < events.length; appends++) {
      await letIn(position);
      // Whoever comes in the middle of what is appended at once comes before it.
      const next = comers.flatMap(({ joins }) => (joins > position ? [joins - position] : []));
      const count = Math.min(grows[appends % grows.length] ?? 1, events.length - position, ...next);
      const entries = events.slice(position, position + count).map(({ seq: _seq, ...event }) => ({
        type: event.type,
        data: JSON.stringify(event),
      }));
      await log.append({ session, streams: [{ stream: 'events', entries }] });
      position += count;
      await settle();
      for (const [index, turn] of turns) if (appends % (comers[index]?.pace ?? 1) === 0) turn();
    }
    await letIn(position);
    isDone = true;
    for (const turn of turns.values()) turn();
    tail.notify();
    await Promise.all(reading);
  });
  tails.close();
  await log.close();
  return texts;
}

/** Their numbers as a log would give them. */
const numbered = (events: Events): Events => events.map((event, index) => ({ ...event, seq: index + 1 }));

const wires: Readonly<Record<string, WireCase>> = {
  'AG-UI': agui,
  'AI SDK': chat,
  v1beta1: beta,
  'Durable Streams': streams,
};
const cases = Object.entries(wires).flatMap(([wire, each]) =>
  recordedLogs.map(({ name, events }) => ({ wire, each, name, events })),
);

describe('what all share is what each would have folded alone', () => {
  test.each(cases)('$wire: $name', async ({ each, events: recorded }) => {
    const isOver = recorded.at(-1)?.type === 'finish';
    const events = numbered(isOver ? recorded : [...recorded, { type: 'finish', at: '', seq: 0 }]);
    const comer = fc.record({
      joins: fc.nat(events.length),
      pace: fc.integer({ min: 1, max: 12 }),
      choice: fc.nat(100),
    });
    const comers = fc.array(comer, { minLength: 1, maxLength: 6 });
    const grows = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(comers, grows, async (all, steps) => {
        const told = await toldTo(each, events, all, steps);
        const { without = (text) => text } = each;
        expect(told.map(without)).toEqual(all.map((one) => each.alone(events, one)));
      }),
      { numRuns: 8 },
    );
  });
});
