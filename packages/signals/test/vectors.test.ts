import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createSignalParser, mergeEvents, type SignalEvent, type SignalOptions } from '../src/index.ts';

type Vector = {
  name: string;
  rules: string[];
  chunks: string[];
  events: unknown[];
  options?: SignalOptions;
  bytes?: boolean;
  visible_after?: string[];
};

const vectors = JSON.parse(readFileSync(new URL('vectors/signals.json', import.meta.url), 'utf8')) as Vector[];

const RANDOM_SPLITS = 200;

describe.each(vectors)('$name', (vector) => {
  const options = vector.options ?? {};
  const chunks: readonly (string | Uint8Array)[] = vector.bytes
    ? vector.chunks.map((chunk) => Uint8Array.from(Buffer.from(chunk, 'base64')))
    : vector.chunks;
  const whole = vector.bytes ? Uint8Array.from(Buffer.concat(chunks as Uint8Array[])) : vector.chunks.join('');

  const parse = (pieces: readonly (string | Uint8Array)[]): unknown => {
    const events: SignalEvent[] = [];
    const parser = createSignalParser(options, (event) => events.push(event));
    for (const piece of pieces) parser.push(piece);
    parser.finish();
    return mergeEvents(events);
  };

  test('as given, visible after each push', () => {
    expect(parse(chunks)).toEqual(vector.events);
    if (vector.visible_after === undefined) return;
    let visible = '';
    const parser = createSignalParser(options, (event) => {
      if ('block' in event && 'content' in event && event.type !== 'calls') visible += event.content;
    });
    for (const [index, chunk] of chunks.entries()) {
      parser.push(chunk);
      expect(visible).toBe(vector.visible_after[index]);
    }
  });

  test('whole', () => {
    expect(parse([whole])).toEqual(vector.events);
  });

  test('one unit at a time', () => {
    const units = Array.from({ length: whole.length }, (_, index) => whole.slice(index, index + 1));
    expect(parse(units)).toEqual(vector.events);
    expect(
      parse(
        units.flatMap((unit) => ['', unit].map((piece) => (vector.bytes && piece === '' ? new Uint8Array() : piece))),
      ),
    ).toEqual(vector.events);
  });

  test(`${RANDOM_SPLITS} random splits`, () => {
    const random = seeded(vector.name.length * 7919 + whole.length);
    for (let run = 0; run < RANDOM_SPLITS; run++) {
      const cuts = Array.from({ length: 1 + Math.floor(random() * 8) }, () =>
        Math.floor(random() * (whole.length + 1)),
      );
      const edges = [0, ...cuts.sort((a, b) => a - b), whole.length];
      const pieces = edges.slice(1).map((edge, index) => whole.slice(edges[index], edge));
      expect(parse(pieces), `cut at ${edges.join(' ')}`).toEqual(vector.events);
    }
  });
});

/** mulberry32 */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
