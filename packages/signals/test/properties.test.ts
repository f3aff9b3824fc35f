import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSignalParser, escape, mergeEvents, type SignalEvent, type SignalOptions } from '../src/index.ts';
import { cutAt, cuts, parserOptions, protocolText } from './protocol-text.ts';
import { parseWhole } from './whole-text-oracle.ts';

const RUNS = Number(process.env['SIGNALS_RUNS'] ?? 1000);

function parse(pieces: readonly (string | Uint8Array)[], options: SignalOptions): SignalEvent[] {
  const events: SignalEvent[] = [];
  const parser = createSignalParser(options, (event) => events.push(event));
  for (const piece of pieces) parser.push(piece);
  parser.finish();
  return events;
}

function visible(events: readonly SignalEvent[]): string {
  const texts = events.filter((event) => event.type === 'think' || event.type === 'respond' || event.type === 'system');
  return texts
    .map((event) => event.content)
    .join('')
    .replace(/[ \t\n\r]/g, '');
}

function wellFormed(text: string): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text));
}

function ascending(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}

describe('whatever the text', () => {
  test('the stream agrees with the rules read off the whole text', () => {
    fc.assert(
      fc.property(protocolText, parserOptions, (text, options) => {
        const events = mergeEvents(parse([text], options)).filter((event) => event.type !== 'call');
        expect(events).toEqual(parseWhole(text, options));
      }),
      { numRuns: RUNS * 2 },
    );
  });

  test('how it is cut makes no difference to the merged events', () => {
    fc.assert(
      fc.property(protocolText, parserOptions, cuts, (text, options, at) => {
        const expected = mergeEvents(parse([text], options));
        expect(mergeEvents(parse(cutAt(text, at), options))).toEqual(expected);
        expect(mergeEvents(parse(text.split(''), options))).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  test('bytes give what their text gives, cut anywhere', () => {
    fc.assert(
      fc.property(protocolText, parserOptions, cuts, (text, options, at) => {
        const bytes = new TextEncoder().encode(text);
        expect(mergeEvents(parse(cutAt(bytes, at), options))).toEqual(mergeEvents(parse([text], options)));
      }),
      { numRuns: RUNS / 2 },
    );
  });

  test('malformed bytes are replaced as a decoder of the whole would', () => {
    const bytes = fc.uint8Array({ maxLength: 24 });
    fc.assert(
      fc.property(bytes, cuts, (tail, at) => {
        const whole = Uint8Array.from([...new TextEncoder().encode('§RESPOND: a'), ...tail]);
        const decoded = new TextDecoder('utf-8', { ignoreBOM: true }).decode(whole);
        expect(mergeEvents(parse(cutAt(whole, at), {}))).toEqual(mergeEvents(parse([decoded], {})));
        expect(
          mergeEvents(parse(cutAt(whole, whole.length > 0 ? Array.from(whole, (_, i) => i / whole.length) : []), {})),
        ).toEqual(mergeEvents(parse([decoded], {})));
      }),
      { numRuns: RUNS },
    );
  });

  test('at most nine visible characters are held back after any push', () => {
    fc.assert(
      fc.property(protocolText, parserOptions, (text, options) => {
        for (let length = 0; length <= text.length; length++) {
          const seen: SignalEvent[] = [];
          const prefix = createSignalParser(options, (event) => seen.push(event));
          prefix.push(text.slice(0, length));
          const emitted = seen.length;
          prefix.finish();
          const held = visible(seen.slice(emitted)).replace(/\ufffd$/, '');
          expect(held.length).toBeLessThanOrEqual(9);
        }
      }),
      { numRuns: RUNS / 10 },
    );
  });

  test('pieces are whole characters, never empty, in order of blocks and time, and nothing follows the end', () => {
    fc.assert(
      fc.property(protocolText, parserOptions, cuts, (text, options, at) => {
        const clock = [5, 4, 6, 6, 3, 9];
        let reads = 0;
        const events = parse(cutAt(text, at), { ...options, now: () => clock[reads++ % clock.length] ?? 0 });
        expect(events.map((event) => event.timestamp)).toEqual(ascending(events.map((event) => event.timestamp)));
        const pieces = events.filter((event) => 'block' in event);
        expect(pieces.map((piece) => piece.block)).toEqual(ascending(pieces.map((piece) => piece.block)));
        const texts = pieces.map((piece) => ('content' in piece ? piece.content : '-'));
        expect(texts).not.toContain('');
        expect(texts.map(wellFormed)).toEqual(texts);
        const end = events.findIndex(
          (event) => event.type === 'end' || (options.mode === 'strict' && event.type === 'error'),
        );
        expect(end === -1 ? events.length - 1 : end).toBe(events.length - 1);
      }),
      { numRuns: RUNS },
    );
  });

  test('the call events of a valid array are its calls', () => {
    fc.assert(
      fc.property(protocolText, parserOptions, (text, options) => {
        const events = parse([text], { ...options, incremental: true });
        const shown = (block: number): unknown[] =>
          events.flatMap((event) => (event.type === 'call' && event.block === block ? [event.call] : []));
        const arrays = events.filter((event) => event.type === 'calls' && event.content.startsWith('['));
        expect(arrays.map((event) => ('block' in event ? shown(event.block) : []))).toEqual(
          arrays.map((event) => ('calls' in event ? event.calls : [])),
        );
      }),
      { numRuns: RUNS },
    );
  });

  test('no text and no bytes make the parser throw', () => {
    const input = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.uint8Array({ maxLength: 200 }),
      protocolText,
    );
    fc.assert(
      fc.property(input, parserOptions, cuts, (whole, options, at) => {
        expect(parse(cutAt(whole, at), options)).toBeInstanceOf(Array);
      }),
      { numRuns: RUNS },
    );
  });
});

describe('escape', () => {
  const trimmed = (text: string): string => text.replace(/^[ \t\n\r]+|[ \t\n\r]+$/g, '');

  test.each(['standard', 'lenient'] as const)('a result written back to a %s reader is read as it was', (mode) => {
    fc.assert(
      fc.property(protocolText, (result) => {
        const transcript = `§CALLS: []\n§EXECUTE:\n[SYSTEM:\n${escape(result, mode)}\n]\n§END:`;
        const system = trimmed(wellFormed(result));
        expect(mergeEvents(parse([transcript], { mode, preset: 'transcript' }))).toEqual([
          { type: 'calls', content: '[]', calls: [] },
          { type: 'execute', content: '' },
          ...(system === '' ? [] : [{ type: 'system', content: system }]),
          { type: 'end', content: '' },
        ]);
      }),
      { numRuns: RUNS },
    );
  });

  test('adds one sign to each line that is a signal, escaped or not, and changes nothing else', () => {
    expect(escape('§END:\n  §§CALLS: x\n    §END:\n§END\r\n§ENDING\nx §END:\r§END:\u2028§END:\n§EXECUTE')).toBe(
      '§§END:\n  §§§CALLS: x\n    §END:\n§§END\r\n§ENDING\nx §END:\r§END:\u2028§END:\n§§EXECUTE',
    );
    expect(escape('§end: §call:\n§Call:\n§end of', 'lenient')).toBe('§§end: §call:\n§§Call:\n§§end of');
    expect(escape('§end: x\n§Call:')).toBe('§end: x\n§Call:');
  });
});
