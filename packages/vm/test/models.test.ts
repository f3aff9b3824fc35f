import type { Json } from '@concerto/base';
import { describe, expect, test } from 'vitest';
import type { Answer, ModelRequest, Request } from '../src/effects.ts';
import { asking, events, no, ok, says, script, shown, withModel } from './conversation.ts';
import { execute, type ProgramBuilder } from './support.ts';

describe('a model', () => {
  test('gets the system prompt and the prompt, and its answer is a Response', () => {
    const seen: Request[] = [];
    const ran = execute(asking(withModel()).build(), { world: script('model', [says('hello')], seen) });
    expect(shown(ran)).toBe('Ok(Response {text: hello, tokens_in: 3, tokens_out: 4, model: m-1})');
    expect(seen[0]).toMatchObject({
      model: 'M',
      connection: 'local',
      config: { base: 'small' },
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'hi' },
      ],
      stream: false,
      schema: null,
    });
  });

  test('a refusal is an Err that names the model and the number of attempts', () => {
    const ran = execute(asking(withModel()).build(), { world: script('model', [no('quota used up', 'rate_limited')]) });
    expect(shown(ran)).toBe('Err(model M failed after 1 attempt: quota used up)');
  });

  test('@retry tries again after a growing pause', () => {
    const seen: Request[] = [];
    const retry = { name: 'retry', args: [], named: { max: 3, backoff: 'linear' } };
    const all = script('model', [no('down'), no('down'), says('back')], []);
    const ran = execute(asking(withModel([retry])).build(), {
      world: (request) => {
        if (request.kind === 'sleep') seen.push(request);
        return all(request);
      },
    });
    expect(shown(ran)).toContain('back');
    expect(seen).toMatchObject([{ ms: 1000 }, { ms: 2000 }]);
  });

  test('@log says what each call cost', () => {
    const log = { name: 'log', args: [], named: { channel: 'calls' } };
    const ran = execute(asking(withModel([log])).build(), { world: script('model', [says('x')]) });
    expect(events(ran)).toEqual([
      'calls {"model": M, "method": execute, "attempt": 1, "tokens_in": 3, "tokens_out": 4}',
    ]);
  });

  test('a schema is checked, mended answers are asked for, defaults are filled in', () => {
    const seen: Request[] = [];
    const program = asking(withModel(), (f) => {
      f.constant(3, { kind: 'type', value: 'Note' });
      f.string(4, 'hi');
      f.emit('CallMethod', 0, f.name('execute_with_schema'), 2, 2);
    });
    const answers = [says('sorry'), says('{"title": 5}'), says('Sure:\n```json\n{"title": "t"}\n```')];
    const ran = execute(program.build(), { world: script('model', answers, seen) });
    expect(shown(ran)).toBe('Ok(Note {title: t, stars: 3})');
    const last = seen[2] as ModelRequest;
    expect(last.messages).toHaveLength(6);
    expect(last.messages.at(-1)?.content).toContain('title: expected a String, found Int 5');
    expect(last.schema).toMatchObject({ name: 'Note', schema: { required: ['title'], additionalProperties: false } });
  });

  test('an answer that never fits is an Err after three attempts', () => {
    const seen: Request[] = [];
    const program = asking(withModel(), (f) => {
      f.constant(3, { kind: 'type', value: 'Note' });
      f.string(4, 'hi');
      f.emit('CallMethod', 0, f.name('execute_with_schema'), 2, 2);
    });
    const ran = execute(program.build(), {
      world: script('model', [says('a'), says('b'), says('c'), says('d')], seen),
    });
    expect(shown(ran)).toMatch(/^Err\(Note: not JSON/);
    expect(seen).toHaveLength(3);
  });

  test('a memory gives the past and gets both sides, unless told otherwise', () => {
    const seen: Request[] = [];
    const program = asking(withModel(), (f) => {
      f.constant(3, { kind: 'memory', name: 'talk' });
      f.emit('CallMethod', 1, f.name('with_memory'), 2, 1);
      for (const prompt of ['one', 'two']) {
        f.emit('Move', 2, 1);
        f.string(3, prompt);
        f.emit('CallMethod', 0, f.name('execute'), 2, 1);
      }
      f.constant(2, { kind: 'memory', name: 'talk' });
      f.builtin(0, 'MemoryRef.messages', 2, 1);
    });
    const ran = execute(program.build(), { world: script('model', [says('A'), says('B')], seen) });
    expect(shown(ran)).toBe(
      '[Message {role: user, content: one}, Message {role: assistant, content: A}, Message {role: user, content: two}, Message {role: assistant, content: B}]',
    );
    expect((seen[1] as ModelRequest).messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  });

  test('pieces of a stream reach the function', () => {
    const program = withModel();
    const show = program.fn('show', { params: 1, registers: 5 }, (f) => {
      f.tell('chunk', 0, 1);
      f.emit('ReturnNil');
    });
    asking(program, (f) => {
      f.constant(4, { kind: 'function', index: show });
      f.emit('CallMethod', 0, f.name('stream'), 2, 2);
    });
    let piece = 0;
    const ran = execute(program.build(), {
      world: (request) => {
        if (request.kind === 'model') return ok({ stream: 's1' });
        piece++;
        if (piece < 3) return ok({ chunk: `p${piece}` });
        return ok({ response: { text: 'p1p2', tokens_in: 1, tokens_out: 2, model: 'm' } });
      },
    });
    expect(events(ran)).toEqual(['chunk p1', 'chunk p2']);
    expect(shown(ran)).toContain('text: p1p2');
  });

  test('a mock answers instead, and remembers what it was asked', () => {
    const program = asking(withModel(), (f) => {
      f.string(4, 'response');
      f.string(5, 'pong');
      f.emit('MakeMap', 3, 4, 1);
      f.builtin(1, '$mock', 2, 2);
      f.string(3, 'ping');
      f.emit('CallMethod', 4, f.name('execute'), 2, 1);
      f.constant(2, { kind: 'model', name: 'M' });
      f.builtin(5, 'mock_calls', 2, 1);
      f.emit('MakeArray', 0, 4, 2);
    });
    const ran = execute(program.build());
    expect(shown(ran)).toBe('[Ok(Response {text: pong, tokens_in: 0, tokens_out: 0, model: mock}), [ping]]');
  });
});

describe('a tool', () => {
  function withTool(): ProgramBuilder {
    const program = withModel();
    program.module.models[0]?.tools.push('Counter');
    program.module.structs.push({ name: 'Counter', kind: 'tool', fields: [{ name: 'total', type: 'Int' }] });
    const global = program.global('Counter');
    const add = program.fn('Counter::add', { params: 2, registers: 4, mutSelf: true }, (f) => {
      const fine = f.label();
      f.emit('JumpIfNotEqInt', 1, 13, fine);
      f.string(2, 'thirteen');
      f.emit('Raise', 2);
      f.place(fine);
      f.emit('Own', 0);
      f.emit('PeekField', 2, 0, f.name('total'));
      f.emit('Add', 2, 2, 1);
      f.emit('SetField', 0, f.name('total'), 2);
      f.emit('Return', 2);
    });
    program.module.tools.push({
      name: 'Counter',
      description: 'counts',
      struct: 1,
      global,
      methods: [
        {
          name: 'add',
          description: 'adds',
          function: add,
          self: true,
          params: [{ name: 'n', type: 'Int' }],
          parameters: { type: 'object' },
          decorators: [],
        },
      ],
    });
    program.module.init = program.fn('init', { registers: 4 }, (f) => {
      f.emit('LoadInt', 1, 100);
      f.emit('MakeStruct', 0, 1, 1);
      f.emit('StoreGlobal', global, 0);
      f.emit('ReturnNil');
    });
    asking(program, (f) => {
      f.emit('CallMethod', 4, f.name('execute'), 2, 1);
      f.emit('PeekGlobal', 5, global);
      f.emit('GetField', 5, 5, f.name('total'));
      f.emit('MakeArray', 0, 4, 2);
    });
    return program;
  }
  const calls = (id: string, n: Json): Answer =>
    says('', { tool_calls: [{ id, name: 'Counter::add', arguments: { n } }] });

  test('runs in the program when the model calls it, and keeps its state', () => {
    const seen: Request[] = [];
    const ran = execute(withTool().build(), {
      world: script('model', [calls('c1', 5), calls('c2', 2), says('done')], seen),
    });
    expect(shown(ran)).toBe('[Ok(Response {text: done, tokens_in: 3, tokens_out: 4, model: m-1}), 107]');
    const last = seen[2] as ModelRequest;
    expect(last.tools).toEqual([{ name: 'Counter::add', description: 'adds', parameters: { type: 'object' } }]);
    expect(last.messages.slice(2)).toEqual([
      { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'Counter::add', arguments: { n: 5 } }] },
      { role: 'tool', id: 'c1', name: 'Counter::add', content: '105', failed: false },
      { role: 'assistant', content: '', toolCalls: [{ id: 'c2', name: 'Counter::add', arguments: { n: 2 } }] },
      { role: 'tool', id: 'c2', name: 'Counter::add', content: '107', failed: false },
    ]);
  });

  test.each<[string, Json, string]>([
    ['a fault in the tool', 13, 'thirteen'],
    ['an argument of the wrong type', 'x', 'n: value: expected an Int'],
  ])('%s goes back to the model', (_, argument, text) => {
    const seen: Request[] = [];
    const ran = execute(withTool().build(), { world: script('model', [calls('c1', argument), says('sorry')], seen) });
    expect(shown(ran)).toContain('text: sorry');
    expect((seen[1] as ModelRequest).messages.at(-1)).toMatchObject({
      role: 'tool',
      failed: true,
      content: expect.stringContaining(text),
    });
  });

  test('a model that never stops calling is stopped', () => {
    const ran = execute(withTool().build(), {
      world: (request) => (request.kind === 'model' ? calls('c', 1) : ok(null)),
    });
    expect(shown(ran)).toContain('called tools more than 10 times');
  });
});
