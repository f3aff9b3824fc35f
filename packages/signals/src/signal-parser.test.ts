import { describe, expect, test } from 'vitest';
import type { SignalEvent } from './events.ts';
import { mergeEvents } from './merge-events.ts';
import type { SignalOptions } from './signal-options.ts';
import { createSignalParser } from './signal-parser.ts';

function parse(text: string, options: SignalOptions = {}): SignalEvent[] {
  const events: SignalEvent[] = [];
  const parser = createSignalParser(options, (event) => events.push(event));
  parser.push(text);
  parser.finish();
  return events;
}

const codes = (events: readonly SignalEvent[]): string[] =>
  mergeEvents(events).map((event) => (event.type === 'error' ? event.code : event.type));

describe('the end of a turn', () => {
  test('a fence that closes on the last line is closed', () => {
    expect(codes(parse('§RESPOND: x\n```\n§END:\n```'))).toEqual(['respond', 'missing_end']);
  });

  test('a bare signal at the very end of a fence counts as hidden', () => {
    expect(codes(parse('§RESPOND: x\n```\n§EXECUTE'))).toEqual(['respond', 'unclosed_fence', 'missing_end']);
  });

  test('half a result prefix is babble, and who waits need not say END', () => {
    expect(codes(parse('§CALLS: []\n§EXECUTE:\n[SYS'))).toEqual(['calls', 'execute', 'text_after_execute']);
  });

  test('and so it is before a signal in the middle of its line', () => {
    expect(codes(parse('§CALLS: []\n§EXECUTE: [SYS§END:', { mode: 'lenient' }))).toEqual([
      'calls',
      'execute',
      'text_after_execute',
      'end',
    ]);
  });

  test('a result alone leaves the turn unfinished', () => {
    expect(codes(parse('§CALLS: []\n§EXECUTE:\n[SYSTEM: ok]'))).toEqual(['calls', 'execute', 'system', 'missing_end']);
  });

  test('finish twice says nothing more', () => {
    const events: SignalEvent[] = [];
    const parser = createSignalParser({}, (event) => events.push(event));
    parser.finish();
    parser.finish();
    expect(codes(events)).toEqual(['missing_end']);
  });
});

describe('strict', () => {
  test('END instead of EXECUTE is the wrong signal after CALLS', () => {
    expect(codes(parse('§CALLS: []\n§END:', { mode: 'strict' }))).toEqual(['calls', 'expected_execute']);
  });

  test('an escaped signal before the first one is text', () => {
    expect(codes(parse('§§END:\n§END:', { mode: 'strict' }))).toEqual(['text_before_delimiter']);
  });

  test('nothing comes after the first error, not even from finish', () => {
    const text = '§CALLS: [{}]\n§EXECUTE:\nbabble\n§END:';
    expect(codes(parse(text, { mode: 'strict' }))).toEqual(['invalid_call']);
  });
});

describe('whitespace', () => {
  test('the indent of a signal does not make the run before it longer', () => {
    const events = parse('§RESPOND: a\n\n   §END:', { maxHeldWhitespace: 2 });
    expect(mergeEvents(events)).toEqual([
      { type: 'respond', content: 'a' },
      { type: 'end', content: '' },
    ]);
  });

  test('a long run keeps the bracket before it', () => {
    const events = parse('§CALLS: []\n§EXECUTE:\n[SYSTEM: a]   \n§END:', { maxHeldWhitespace: 3 });
    expect(mergeEvents(events)[2]).toEqual({ type: 'system', content: 'a]   \n' });
  });

  test('however long, before a block it is nothing', () => {
    expect(codes(parse(`${' '.repeat(5000)}\n§THINK:${'\n'.repeat(5000)}§END:`))).toEqual(['end']);
  });
});

describe('errors', () => {
  test('say where the fault is and quote a bounded piece round it', () => {
    const calls = `[{"name":"a","args":{"t":"${'x'.repeat(5000)}" oops}}]`;
    const [error] = parse(`§CALLS: ${calls}\n§EXECUTE:`);
    expect(error).toMatchObject({ type: 'error', code: 'invalid_json', position: calls.indexOf('oops') });
    expect(error).toHaveProperty('source', expect.stringContaining('" oops}}]') as string);
    expect(JSON.stringify(error).length).toBeLessThan(500);
  });

  test('name the call that is wrong', () => {
    const [error] = parse('§CALLS: [{"name":"a"},{"name":"b","args":[]}]\n§EXECUTE:');
    expect(error).toMatchObject({ code: 'invalid_call', content: 'call 2: "args" must be an object' });
  });

  test('of two limits the first one passed counts', () => {
    const limits = { maxCallsLength: 10, maxDepth: 2 };
    expect(codes(parse('§CALLS: [[[ "0123456789"\n', limits))[0]).toBe('limit_depth');
    expect(codes(parse('§CALLS: ["0123456789", [[\n', limits))[0]).toBe('limit_length');
  });

  test('a limit in one block does not touch the next', () => {
    const text = '§CALLS: [[[[[]]]]]\n§CALLS: [{"name":"a"}]\n§EXECUTE:';
    expect(codes(parse(text, { maxDepth: 3 }))).toEqual(['limit_depth', 'calls', 'execute']);
  });
});

describe('time', () => {
  test('without a clock it is that of the system, in seconds', () => {
    const before = Date.now() / 1000;
    const [event] = parse('§THINK: a\n§END:');
    expect(event?.timestamp).toBeGreaterThanOrEqual(before);
    expect(event?.timestamp).toBeLessThanOrEqual(Date.now() / 1000);
  });

  test('a piece has the time of its push, calls that of their signal, and the clock is read once a push', () => {
    const events: SignalEvent[] = [];
    let reads = 0;
    const parser = createSignalParser({ incremental: true, now: () => ++reads }, (event) => events.push(event));
    for (const chunk of ['§THINK: a', 'b\n§CALLS: [', '{"name":"x"}', ']\n§EXECUTE:', '\n§END:']) parser.push(chunk);
    parser.finish();
    expect(events.map((event) => [event.type, event.timestamp])).toEqual([
      ['think', 1],
      ['think', 2],
      ['call', 2],
      ['calls', 2],
      ['execute', 4],
      ['end', 5],
    ]);
    expect(reads).toBe(6);
  });
});

describe('presets', () => {
  const text = 'x §think: y\n```\n§EXECUTE:\n```\n§EXECUTE:\n§END:';

  test.each([
    ['live', ['respond', 'execute_without_calls', 'execute']],
    [
      'transcript',
      ['respond', 'execute_without_calls', 'execute', 'text_after_execute', 'execute_without_calls', 'execute', 'end'],
    ],
    ['eval', ['text_before_delimiter']],
    ['legacy', ['respond', 'think', 'execute_without_calls', 'execute', 'end']],
  ] as const)('%s', (preset, expected) => {
    expect(codes(parse(text, { preset }))).toEqual(expected);
  });

  test('an option given beside a preset wins, one that is undefined does not', () => {
    expect(codes(parse('§EXECUTE:\n§END:', { preset: 'live', afterExecute: 'continue' }))).toContain('end');
    const options = { preset: 'live', afterExecute: undefined } as unknown as SignalOptions;
    expect(codes(parse('§EXECUTE:\n§END:', options))).not.toContain('end');
  });
});

describe('misuse', () => {
  test.each([
    ['a number', 7],
    ['nothing', undefined],
    ['a list', [104, 105]],
  ])('pushing %s throws', (_, input) => {
    const parser = createSignalParser({}, () => {});
    expect(() => parser.push(input as unknown as string)).toThrow('a string or a Uint8Array');
  });

  test('text and bytes in one turn throw', () => {
    const parser = createSignalParser({}, () => {});
    parser.push('a');
    expect(() => parser.push(new Uint8Array([104]))).toThrow('not both');
  });

  test('push after finish throws, after END it does nothing', () => {
    const events: SignalEvent[] = [];
    const parser = createSignalParser({}, (event) => events.push(event));
    parser.push('§END:');
    expect(parser.done).toBe(true);
    parser.push('more');
    parser.finish();
    expect(codes(events)).toEqual(['end']);
    expect(() => parser.push('more')).toThrow('after finish');
  });

  test.each([
    { mode: 'loose' },
    { preset: 'dead' },
    { afterExecute: 'wait' },
    { maxDepth: Number.NaN },
    { maxCalls: -1 },
  ])('the option %j throws', (options) => {
    expect(() => createSignalParser(options as unknown as SignalOptions, () => {})).toThrow('must be');
  });
});
