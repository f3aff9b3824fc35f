import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeAgentCommand } from './agent-command.ts';
import { KnownAgentMessage, parseAgentLine } from './agent-wire.ts';

describe('parseAgentLine', () => {
  test('hands over a known message as it was sent, unknown fields included', () => {
    const sent = { type: 'progress', message: 'Reading', percent: 10, files: ['a.ts'] };
    expect(parseAgentLine(JSON.stringify(sent))).toEqual({ kind: 'message', message: sent, raw: sent });
  });

  test('hands over any other type by its name', () => {
    const sent = { type: 'deployed', url: 'http://x' };
    expect(parseAgentLine(JSON.stringify(sent))).toEqual({
      kind: 'message',
      message: { type: 'custom', name: 'deployed', fields: { url: 'http://x' } },
      raw: sent,
    });
  });

  test.each([
    'Hello, I am an agent',
    '',
    '   ',
    '{"type":"progress"',
    '{"message":"no type"}',
    '{"type":3}',
    '{"type":null}',
    '[{"type":"result"}]',
    '"result"',
    '12',
    'null',
    '{',
    '{"type":"result"} trailing',
  ])('takes %j as plain text', (text) => {
    expect(parseAgentLine(text)).toEqual({ kind: 'plain', text });
  });

  test('takes JSON with spaces around it', () => {
    expect(parseAgentLine('  {"type":"result","text":"x"} \t')).toMatchObject({
      message: { type: 'result', text: 'x' },
    });
  });

  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'takes %j for a name like any other',
    (name) => {
      expect(parseAgentLine(JSON.stringify({ type: name }))).toMatchObject({ message: { type: 'custom', name } });
    },
  );

  test('saves what it can of a message that left its shape, keeps what was sent, and says what is wrong', () => {
    const line = parseAgentLine('{"type":"question","id":{},"question":5,"options":[1,"b"]}');
    expect(line).toMatchObject({
      kind: 'message',
      message: { type: 'question', id: undefined, question: '5', options: ['1', 'b'] },
      raw: { type: 'question', id: {}, question: 5, options: [1, 'b'] },
      problem:
        '`question` message: field `id`: expected a string or a number, found the object {}; ' +
        'field `question`: expected a string, found the number 5; field `options.0`: expected a string, found the number 1',
    });
  });

  test('of a field that may be several things each is named', () => {
    const problem = (command: unknown): unknown => {
      const line = parseAgentLine(JSON.stringify({ type: 'approval', description: 'Run it', command }));
      return line.kind === 'message' ? line.problem : undefined;
    };
    expect(problem(5)).toBe('`approval` message: field `command`: expected a string or an array, found the number 5');
    expect(problem(['ls', 5])).toBe(
      '`approval` message: field `command`: expected a string or a string at 1, found the array ["ls",5]',
    );
  });

  test('an error without a message still ends the turn', () => {
    expect(parseAgentLine('{"type":"error"}')).toMatchObject({
      message: { type: 'error', message: 'error without a message' },
    });
  });

  test('a call whose optional fields are wrong is a call all the same', () => {
    const line = parseAgentLine('{"type":"tool_call","id":"t1","name":"Bash","kind":"paint","args":{"command":"ls"}}');
    expect(line).toMatchObject({
      message: { type: 'tool_call', id: 't1', name: 'Bash', args: { command: 'ls' } },
      problem: expect.stringMatching(
        /^`tool_call` message: field `kind`: expected "read" or .*, found the string "paint"$/,
      ),
    });
    expect(line).not.toHaveProperty('message.kind');
  });

  test('one that only has the name of ours is handed over as the agent’s own', () => {
    expect(parseAgentLine('{"type":"plan","steps":["a"]}')).toMatchObject({
      message: { type: 'custom', name: 'plan', fields: { steps: ['a'] } },
      problem: expect.stringMatching(/entries/),
    });
  });

  test('reads the old name of a partial text', () => {
    expect(parseAgentLine('{"type":"partial","chunk":"Hel"}')).toMatchObject({ message: { text: 'Hel' } });
  });

  const fieldNames = ['message', 'text', 'percent', 'stage', 'level', 'id', 'question', 'options', 'description'];
  const workNames = [
    'name',
    'args',
    'kind',
    'outcome',
    'content',
    'entries',
    'call',
    'paths',
    'changes',
    'input_tokens',
  ];
  const moreNames = ['risk_level', 'code', 'in_reply_to', 'in_reply_to_id', 'version', 'capabilities', 'context'];
  const types = KnownAgentMessage.def.options.flatMap((option) => option.shape.type.def.values);
  const likelyValue = fc.oneof(fc.string(), fc.integer(), fc.array(fc.string()), fc.jsonValue());
  const anyMessage = fc
    .tuple(
      fc.constantFrom(...types),
      fc.dictionary(fc.constantFrom(...fieldNames, ...moreNames, ...workNames), likelyValue),
    )
    .map(([type, fields]) => JSON.stringify({ ...fields, type }));

  test('finds a problem exactly where the schema does, and what it hands over always has the shape', () => {
    fc.assert(
      fc.property(anyMessage, (text) => {
        const line = parseAgentLine(text);
        if (line.kind !== 'message') throw new Error('a typed object is a message');
        const accepted = KnownAgentMessage.safeParse(JSON.parse(text)).success;
        expect(line.problem === undefined).toBe(accepted);
        const isOwn = line.message.type === 'custom';
        expect(isOwn || KnownAgentMessage.safeParse(line.message).success).toBe(true);
        expect(line.raw).toEqual(JSON.parse(text));
      }),
      { numRuns: 2000 },
    );
  });

  test('never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.string().map((text) => `{${text}`),
        ),
        (text) => {
          expect(['message', 'plain']).toContain(parseAgentLine(text).kind);
        },
      ),
    );
  });
});

describe('encodeAgentCommand', () => {
  test('writes one line, whatever the text', () => {
    const line = encodeAgentCommand({ type: 'prompt', text: 'a\nb\r\n', prompt: 'a\nb\r\n' });
    expect(line).not.toMatch(/[\r\n]/);
    expect(JSON.parse(line)).toEqual({ type: 'prompt', text: 'a\nb\r\n', prompt: 'a\nb\r\n' });
  });

  test('sends nothing that is not ours', () => {
    expect(() => encodeAgentCommand({ type: 'response', in_reply_to: 'question' })).toThrow(/value/);
  });
});
