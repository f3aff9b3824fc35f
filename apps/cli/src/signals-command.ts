import { once } from 'node:events';
import { harmlessJson, nearest } from '@concerto/base';
import {
  AFTER_EXECUTE,
  createEventMerger,
  createSignalParser,
  type MergedEvent,
  SIGNAL_MODES,
  SIGNAL_PRESETS,
  type SignalEvent,
  type SignalOptions,
} from '@concerto/signals';
import { defineCommand, parseArguments, UsageError } from './arguments.ts';
import { tell } from './terminal/print.ts';

/** A block that `--merged` has to keep whole; beyond it we would rather say so than run out of memory. */
const MERGED_BLOCK_MAX = 64 * 1024 * 1024;

export const spec = defineCommand({
  name: 'signals',
  summary: 'Read § signals on stdin, write one event per line as it is known.',
  usage: '[OPTIONS] < TRANSCRIPT',
  options: {
    merged: { type: 'boolean', help: 'one event per block instead of its pieces' },
    mode: { type: 'string', value: SIGNAL_MODES.join('|'), help: 'how exact the text has to be (standard)' },
    preset: { type: 'string', value: SIGNAL_PRESETS.join('|'), help: 'the options for one kind of text' },
    'after-execute': {
      type: 'string',
      value: AFTER_EXECUTE.join('|'),
      help: 'whether text after EXECUTE is read (continue) or discarded (stop)',
    },
    incremental: { type: 'boolean', help: 'an event for each call as soon as it is complete' },
    'no-fences': { type: 'boolean', help: 'recognise signals inside code fences' },
  },
  maxPositionals: 0,
  details: 'An option given beside --preset overrides what the preset says.',
});

export async function run(argv: string[]): Promise<number> {
  const { merged, options } = readOptions(argv);
  let lines = '';
  const print = (event: SignalEvent | MergedEvent): void => {
    lines += `${harmlessJson(event)}\n`;
  };
  const merger = createEventMerger((event) => {
    mergedLength = 0;
    print(event);
  });
  let mergedLength = 0;
  const merge = (event: SignalEvent): void => {
    merger.push(event);
    if ('content' in event) mergedLength += event.content.length;
    if (mergedLength > MERGED_BLOCK_MAX) {
      throw new Error(`a block is longer than ${MERGED_BLOCK_MAX} characters; read it without --merged`);
    }
  };
  const parser = createSignalParser(options, merged ? merge : print);
  const flush = async (): Promise<void> => {
    if (lines === '') return;
    const ready = lines;
    lines = '';
    if (!process.stdout.write(ready)) await once(process.stdout, 'drain');
  };
  if (process.stdin.isTTY) tell('reading what you type; Ctrl-D ends it\n');
  for await (const chunk of process.stdin) {
    parser.push(chunk);
    await flush();
  }
  parser.finish();
  merger.finish();
  await flush();
  return 0;
}

function readOptions(argv: readonly string[]): { merged: boolean; options: SignalOptions } {
  const { values } = parseArguments(spec, argv);
  const options: SignalOptions = { now: () => Date.now() / 1000 };
  if (values.preset !== undefined) options.preset = choice('--preset', values.preset, SIGNAL_PRESETS);
  if (values.mode !== undefined) options.mode = choice('--mode', values.mode, SIGNAL_MODES);
  const after = values['after-execute'];
  if (after !== undefined) options.afterExecute = choice('--after-execute', after, AFTER_EXECUTE);
  if (values.incremental) options.incremental = true;
  if (values['no-fences']) options.fences = false;
  return { merged: values.merged, options };
}

function choice<Choice extends string>(flag: string, value: string, allowed: readonly Choice[]): Choice {
  const found = allowed.find((candidate) => candidate === value);
  if (found !== undefined) return found;
  const meant = nearest(value, allowed);
  const hint = meant === undefined ? `it is one of ${allowed.join(', ')}` : `did you mean ${meant}?`;
  throw new UsageError(`${flag} cannot be ${JSON.stringify(value)}; ${hint}`);
}
