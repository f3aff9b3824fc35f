import { ClaudeMessage, readClaudeLine } from '@concerto/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ClaudeTranslator } from './claude-translator.ts';

const types = ['stream_event', 'assistant', 'user', 'system', 'control_request', 'control_response', 'result', 'x'];

test('no line of the program makes us fail, whatever is in it', () => {
  const message = fc
    .record({ type: fc.constantFrom(...types), rest: fc.object({ maxDepth: 4 }) })
    .map(({ type, rest }) => JSON.stringify({ ...rest, type }));
  const line = fc.oneof(message, fc.json(), fc.string());
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
      const translator = new ClaudeTranslator();
      for (const each of lines) expect(Array.isArray(translator.read(readClaudeLine(each)))).toBe(true);
    }),
  );
});

test('a piece of text is read as the schema would read it', () => {
  const delta = { type: 'text_delta', text: 'Hel' };
  const event = { type: 'content_block_delta', index: 0, delta };
  for (const parent of [null, 'toolu_1', undefined]) {
    const raw = { type: 'stream_event', event, session_id: 'c', parent_tool_use_id: parent };
    expect(readClaudeLine(JSON.stringify(raw))).toEqual({ kind: 'message', message: ClaudeMessage.parse(raw) });
  }
});

test('a line that nests deeper than any stack is text', () => {
  const deep = `${'{"type":"user","a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
  expect(readClaudeLine(deep).kind).toBe('text');
});

test('fields in a shape that we do not know do not cost us the end of a turn', () => {
  const odd = { result: null, errors: 'x', usage: 'none', permission_denials: {}, num_turns: '1', total_cost_usd: -1 };
  const line = JSON.stringify({ type: 'result', subtype: 'success', is_error: null, session_id: 7, ...odd });
  expect(new ClaudeTranslator().read(readClaudeLine(line))).toMatchObject([
    { kind: 'ended', end: { outcome: { ok: true, text: '' } } },
  ]);
});

test('a server that is not there is told once', () => {
  const mcp_servers = [
    { name: 'files', status: 'connected' },
    { name: 'web', status: 'failed' },
  ];
  const line = readClaudeLine(JSON.stringify({ type: 'system', subtype: 'init', session_id: 'c-1', mcp_servers }));
  const translator = new ClaudeTranslator();
  expect(translator.read(line).slice(4)).toMatchObject([
    { output: { raw: { level: 'warn', message: 'the server web is not there: failed' } } },
  ]);
  expect(translator.read(line)).toEqual([{ kind: 'begun' }, { kind: 'conversation', id: 'c-1', version: undefined }]);
});

test('what comes with every word and says nothing is not kept, and what is not known is told once', () => {
  const translator = new ClaudeTranslator();
  const said = ['thinking_tokens', 'something_new', 'something_new', 'thinking_tokens'].flatMap((subtype) =>
    translator.read(readClaudeLine(JSON.stringify({ type: 'system', subtype, tokens: 7 }))),
  );
  expect(said).toMatchObject([{ output: { raw: { message: 'claude: something_new' } } }]);
});

test('a limit of the account is kept, and told once when it is near or reached', () => {
  const translator = new ClaudeTranslator();
  const told = ['allowed', 'allowed_warning', 'allowed_warning', 'rejected'].map((status) => {
    const rate_limit_info = { status, rateLimitType: 'five_hour', resetsAt: 1_800_000_000 };
    const meanings = translator.read(readClaudeLine(JSON.stringify({ type: 'rate_limit_event', rate_limit_info })));
    return meanings.flatMap((meaning) =>
      meaning.kind === 'say' && meaning.output.kind === 'message' ? [meaning.output.raw.message] : [],
    );
  });
  const words = (how: string) =>
    `the limit of its account (five_hour) is ${how}; it is renewed at 2027-01-15T08:00:00.000Z`;
  expect(told).toEqual([[], [words('near')], [], [words('reached')]]);

  const odd = { status: 'rejected', resetsAt: 1e300 };
  const line = readClaudeLine(JSON.stringify({ type: 'rate_limit_event', rate_limit_info: odd }));
  expect(translator.read(line)[1]).toMatchObject({
    output: { raw: { message: 'the limit of its account (requests) is reached' } },
  });
});

test('what a message that broke off has thought is not of the one after it', () => {
  const translator = new ClaudeTranslator();
  const streamed = (event: object) => translator.read(readClaudeLine(JSON.stringify({ type: 'stream_event', event })));
  const begins = (id: string) => streamed({ type: 'message_start', message: { id } });
  const thinks = (thinking: string) =>
    streamed({ type: 'content_block_delta', delta: { type: 'thinking_delta', thinking } });
  const told = [begins('M1'), thinks('One.'), begins('M2'), thinks('Two.\n')].flat();
  expect(told).toMatchObject([
    { output: { raw: { text: 'One.', message: 'M1' } } },
    { output: { raw: { text: 'Two.\n', message: 'M2' } } },
  ]);
});

test('what the model said without a stream is told all the same, and once', () => {
  const translator = new ClaudeTranslator();
  const read = (message: object): readonly Record<string, unknown>[] => {
    const told: Record<string, unknown>[] = [];
    for (const meaning of translator.read(readClaudeLine(JSON.stringify(message)))) {
      if (meaning.kind === 'ended') told.push({ end: meaning.end.message });
      if (meaning.kind !== 'say' || meaning.output.kind !== 'message') continue;
      const { type, text, message: of } = meaning.output.raw;
      told.push({ type, text, of });
    }
    return told;
  };
  const says = (id: string, ...content: readonly object[]) => read({ type: 'assistant', message: { id, content } });
  const begins = { type: 'message_start', message: { id: 'M1' } };
  const word = { type: 'content_block_delta', delta: { type: 'text_delta', text: 'Streamed.' } };
  read({ type: 'stream_event', event: begins });
  expect(read({ type: 'stream_event', event: word })).toMatchObject([{ type: 'partial', of: 'M1' }]);
  expect(says('M1', { type: 'text', text: 'Streamed.' })).toEqual([]);

  expect(says('M2', { type: 'thinking', thinking: 'Hm.' })).toEqual([{ type: 'thought', text: 'Hm.', of: 'M2' }]);
  const whole = says('M2', { type: 'text', text: 'Whole.' }, { type: 'text', text: 'More.' });
  expect(
    whole
      .filter(({ of }) => of === 'M2')
      .map(({ text }) => text)
      .join(''),
  ).toContain('Whole.\n\nMore.');
  const failed = {
    type: 'assistant',
    error: 'server_error',
    message: { id: 'M3', content: [{ type: 'text', text: 'API Error' }] },
  };
  expect(read(failed)).toEqual([]);
  expect(read({ type: 'result', subtype: 'success', result: 'More.' })).toEqual([{ end: 'M2' }]);
});

test('a workflow that goes on in the background ends when it does, though its start does not say where it runs', () => {
  const translator = new ClaudeTranslator();
  const read = (message: object) => translator.read(readClaudeLine(JSON.stringify(message)));
  const system = (subtype: string, fields: object) => read({ type: 'system', subtype, ...fields });
  const task = { task_id: 't-1', tool_use_id: 'call-1' };
  const input = { script: 'return 1' };
  read({ type: 'assistant', message: { content: [{ type: 'tool_use', id: 'call-1', name: 'Workflow', input }] } });
  system('background_tasks_changed', { tasks: [{ task_id: 't-1', task_type: 'local_workflow' }] });
  system('task_started', { ...task, task_type: 'local_workflow', workflow_name: 'x' });
  const launched = { type: 'tool_result', tool_use_id: 'call-1', content: 'launched' };
  const told = read({ type: 'user', message: { content: [launched] } });
  expect(told).toMatchObject([{ kind: 'was-used' }, { output: { raw: { message: 'in the background' } } }]);
  expect(system('task_notification', { ...task, status: 'completed', summary: 'Done.' })).toMatchObject([
    { output: { raw: { type: 'tool_result', id: 'call-1', content: 'Done.', outcome: 'ok' } } },
    { kind: 'background' },
  ]);
});
