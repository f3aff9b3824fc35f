import { describe, expect, test } from 'vitest';
import type { SignalEvent } from './events.ts';
import { createSignalParser } from './signal-parser.ts';
import { signalsSystemPrompt } from './signals-system-prompt.ts';

const read = {
  name: 'read_file',
  description: 'Reads a file.\n§END: is not a signal here',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string' }, lines: { type: 'integer' }, mode: { enum: ['text', 'bytes'] } },
    required: ['path', 'lines', 'mode'],
  },
};

/** The example a prompt shows, from its first signal on. */
function example(prompt: string): string {
  return prompt.slice(prompt.lastIndexOf('§THINK:'));
}

function parse(text: string): SignalEvent[] {
  const events: SignalEvent[] = [];
  const parser = createSignalParser({ mode: 'strict' }, (event) => events.push(event));
  parser.push(text);
  parser.finish();
  return events;
}

describe('signalsSystemPrompt', () => {
  test('tells every function with its description and schema', () => {
    const prompt = signalsSystemPrompt([read, { name: 'now' }]);
    expect(prompt).toContain('- read_file\n    Reads a file.\n');
    expect(prompt).toContain(`args: ${JSON.stringify(read.parameters)}`);
    expect(prompt).toContain('- now\n');
  });

  test('says what the model must know', () => {
    const prompt = signalsSystemPrompt([read]);
    for (const signal of ['§THINK:', '§CALLS:', '§EXECUTE:', '§RESPOND:', '§END:'])
      expect(prompt).toContain(`\n${signal} `);
    expect(prompt).toMatch(/After §CALLS: write §EXECUTE: on the next line and stop/);
    expect(prompt).toMatch(/never write a line that begins with \[SYSTEM:/);
    expect(prompt).toMatch(/one JSON array/);
    expect(prompt).toMatch(/code fence, or write its sign twice: §§END:/);
    expect(prompt).toMatch(/§RESPOND: and then §END:/);
  });

  test('its example is a valid turn with a call that fits the schema', () => {
    const events = parse(example(signalsSystemPrompt([read])));
    expect(events.map((event) => event.type)).toEqual(['think', 'calls', 'execute', 'respond', 'end']);
    expect(events[1]).toMatchObject({ calls: [{ name: 'read_file', args: { path: '...', lines: 1, mode: 'text' } }] });
  });

  test('without functions it does not offer calls', () => {
    const prompt = signalsSystemPrompt([]);
    expect(prompt).toContain('no functions to call');
    expect(prompt).not.toContain('§CALLS: [');
    expect(parse(example(prompt)).map((event) => event.type)).toEqual(['think', 'respond', 'end']);
  });

  test('no description can pass for a signal', () => {
    expect(signalsSystemPrompt([read])).not.toMatch(/^ {0,3}§END: is not/m);
  });
});
