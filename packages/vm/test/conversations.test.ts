import type { Json } from '@concerto/base';
import { describe, expect, test } from 'vitest';
import { display } from '../src/display.ts';
import type { Answer, Effect, ModelRequest, Request } from '../src/effects.ts';
import { execute, type FunctionBuilder, ProgramBuilder, type Ran, valueOf } from './support.ts';

/** Models, tools, agents and pipelines: built-ins that take several turns with the world. */

const ok = (value: Json): Answer => ({ ok: true, value });
const no = (message: string, kind?: string): Answer => ({
  ok: false,
  error: kind === undefined ? { message } : { message, kind },
});
const says = (text: string, more: Record<string, Json> = {}): Answer =>
  ok({ text, tokens_in: 3, tokens_out: 4, model: 'm-1', ...more });

const shown = (ran: Ran): string => display(valueOf(ran));
const events = (ran: Ran): string[] =>
  ran.effects.flatMap((effect) => (effect.kind === 'emit' ? [`${effect.channel} ${display(effect.payload)}`] : []));
const replies = (ran: Ran): Json[] =>
  ran.effects.flatMap((effect): Json[] => (effect.kind === 'agent_reply' ? [JSON.parse(effect.line)] : []));

/** Answers requests of one kind from a list, everything else with null. */
function script(kind: Request['kind'], answers: readonly Answer[], seen: Request[] = []) {
  let next = 0;
  return (request: Request): Answer => {
    if (request.kind !== kind) return ok(request.kind === 'now' ? 5 : null);
    seen.push(request);
    return answers[next++] ?? no('nothing more to say');
  };
}

function withModel(decorators: ProgramBuilder['module']['models'][number]['decorators'] = []): ProgramBuilder {
  const program = new ProgramBuilder();
  program.module.models.push({
    name: 'M',
    connection: 'local',
    config: { base: 'small', system_prompt: 'be brief' },
    tools: [],
    decorators,
  });
  program.module.structs.push({
    name: 'Note',
    kind: 'schema',
    fields: [
      { name: 'title', type: 'String' },
      { name: 'stars', type: 'Int', default: 3 },
    ],
  });
  program.module.memories.push({ name: 'talk' });
  return program;
}

/** main: M.execute("hi"), or what `call` does with M in register 2. */
function asking(program: ProgramBuilder, call?: (f: FunctionBuilder) => void): ProgramBuilder {
  program.fn('main', {}, (f) => {
    f.constant(2, { kind: 'model', name: 'M' });
    f.string(3, 'hi');
    if (call === undefined) f.emit('CallMethod', 0, f.name('execute'), 2, 1);
    else call(f);
    f.emit('Return', 0);
  });
  return program;
}

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

describe('an agent', () => {
  /** main listens with the handlers given; each handler is one function of one parameter. */
  function listening(
    handlers: readonly { keys: string[]; type?: string; params?: number; body: (f: FunctionBuilder) => void }[],
    more: { script?: boolean; memory?: boolean } = {},
  ): ProgramBuilder {
    const program = withModel();
    program.module.agents.push({
      name: 'A',
      connector: 'a',
      config: { timeout: 9 },
      decorators: [],
      params: { level: 1 },
    });
    const functions = handlers.map(({ body, params }, index) =>
      program.fn(`handler${index}`, { params: params ?? 1, registers: 8 }, body),
    );
    program.module.listens.push({
      name: '$listen_0',
      method: 'execute',
      handlers: handlers.map(({ keys, type, params }) => ({
        keys,
        params: params ?? 1,
        ...(type === undefined ? {} : { type }),
      })),
    });
    program.fn('main', {}, (f) => {
      f.constant(2, { kind: 'agent', name: 'A' });
      if (more.memory === true) {
        f.constant(3, { kind: 'memory', name: 'talk' });
        f.emit('CallMethod', 2, f.name('with_memory'), 2, 1);
      }
      f.string(3, 'go');
      functions.forEach((index, position) => f.constant(4 + position, { kind: 'function', index }));
      f.emit('ListenBegin', 0, 0, 2);
      f.emit('Return', 0);
    });
    return program;
  }

  /** An agent that says the messages in turn. */
  function agent(messages: readonly (Json | Answer)[], seen: Request[] = []) {
    let next = 0;
    return (request: Request): Answer => {
      seen.push(request);
      if (request.kind === 'agent_open') return ok({ session: 's1' });
      if (request.kind === 'model') return says('blue');
      const message = messages[next++] ?? no('agent exited without result', 'exited');
      return typeof message === 'object' && message !== null && 'ok' in message
        ? (message as Answer)
        : ok({ message: message as Json });
    };
  }
  const answer = (text: string) => (f: FunctionBuilder) => {
    f.string(1, text);
    f.emit('Return', 1);
  };
  const note = (f: FunctionBuilder) => {
    f.tell('noted', 0, 1);
    f.emit('ReturnNil');
  };
  const question = { type: 'question', id: 'q7', question: 'Which?' };
  const result = { type: 'result', text: 'done', files: 2 };

  test('gets the prompt, its questions are answered, its result is the value', () => {
    const seen: Request[] = [];
    const program = listening([{ keys: ['question'], body: answer('red') }]);
    const ran = execute(program.build(), { world: agent([question, result], seen) });
    expect(seen[0]).toMatchObject({
      kind: 'agent_open',
      agent: 'A',
      connector: 'a',
      prompt: 'go',
      params: { level: 1 },
      config: { timeout: 9 },
    });
    expect(shown(ran)).toBe('Ok({"text": done, "files": 2})');
    expect(replies(ran)).toEqual([{ type: 'response', in_reply_to: 'question', in_reply_to_id: 'q7', value: 'red' }]);
    expect(events(ran)).toEqual(['listen:start {"agent": A, "listen": $listen_0}', 'listen:complete {"agent": A}']);
  });

  test('a reply is one compact line', () => {
    const ran = execute(listening([{ keys: ['question'], body: answer('red') }]).build(), {
      world: agent([{ type: 'question' }, result]),
    });
    const line = ran.effects.find(
      (effect): effect is Extract<Effect, { kind: 'agent_reply' }> => effect.kind === 'agent_reply',
    )?.line;
    expect(line).toBe('{"type":"response","in_reply_to":"question","value":"red"}');
  });

  test('a question nobody answers is refused, never left open', () => {
    const unheard = execute(listening([]).build(), { world: agent([question, result]) });
    expect(replies(unheard)).toMatchObject([{ error: 'unhandled', in_reply_to_id: 'q7' }]);
    expect(events(unheard)[1]).toBe('listen:unhandled {"type": question, "id": q7, "question": Which?}');
    const silent = execute(listening([{ keys: ['question'], body: note }]).build(), {
      world: agent([question, result]),
    });
    expect(replies(silent)).toMatchObject([{ error: 'unhandled' }]);
  });

  test('progress needs no reply, and a handler without parameters is fine', () => {
    const program = listening([
      { keys: ['progress', 'log'], body: note },
      { keys: ['_'], params: 0, body: (f) => f.emit('ReturnNil') },
    ]);
    const ran = execute(program.build(), {
      world: agent([{ type: 'progress', n: 1 }, { type: 'log', n: 2 }, { type: 'own' }, result]),
    });
    expect(events(ran).filter((event) => event.startsWith('noted'))).toEqual(['noted {"n": 1}', 'noted {"n": 2}']);
    expect(replies(ran)).toEqual([]);
  });

  test('_ sees the type, but not what ends the session', () => {
    const ran = execute(listening([{ keys: ['_'], body: note }]).build(), {
      world: agent([{ type: 'own', n: 1 }, result]),
    });
    expect(events(ran).filter((event) => event.startsWith('noted'))).toEqual(['noted {"type": own, "n": 1}']);
  });

  test('handlers of result and error only observe', () => {
    const ran = execute(listening([{ keys: ['result'], body: answer('other') }]).build(), { world: agent([result]) });
    expect(shown(ran)).toBe('Ok({"text": done, "files": 2})');
    expect(replies(ran)).toEqual([]);
  });

  test.each<[string, readonly (Json | Answer)[], string, string]>([
    ['an error message', [{ type: 'error', message: 'disk full' }], 'disk full', 'reported'],
    ['the end of the process', [], 'agent exited without result', 'exited'],
    ['a timeout', [no('no answer within 9 s', 'timeout')], 'no answer within 9 s', 'timeout'],
  ])('%s is an Err with its kind', (_, messages, text, kind) => {
    const ran = execute(listening([]).build(), { world: agent(messages) });
    const value = valueOf(ran);
    expect(display(value)).toBe(`Err(${text})`);
    expect(JSON.stringify(value)).toContain(`"${kind}"`);
    expect(events(ran).at(-1)).toBe(`listen:error {"agent": A, "error": ${text}}`);
  });

  test('an agent that cannot be started is an Err', () => {
    const ran = execute(listening([]).build(), { world: () => no('no such command', 'spawn') });
    expect(shown(ran)).toBe('Err(no such command)');
  });

  test('an error in a handler ends the session', () => {
    const program = listening([
      {
        keys: ['question'],
        body: (f) => {
          f.string(1, 'no idea');
          f.emit('Raise', 1);
        },
      },
    ]);
    const ran = execute(program.build(), { world: agent([question, result]) });
    expect(shown(ran)).toBe('Err(the handler of "question" failed: no idea)');
    expect(ran.effects).toContainEqual({ kind: 'agent_close', session: 's1', reason: 'handler' });
  });

  test('a message that does not fit its schema ends the session and is told to the agent', () => {
    const program = listening([{ keys: ['question'], type: 'Note', body: answer('x') }]);
    const ran = execute(program.build(), { world: agent([question, result]) });
    expect(shown(ran)).toBe('Err(message "question" does not fit its schema: title: missing)');
    expect(replies(ran)).toMatchObject([{ error: expect.stringContaining('title: missing') }]);
    expect(events(ran).some((event) => event.startsWith('listen:invalid'))).toBe(true);
  });

  test('a typed message is a struct', () => {
    const program = listening([{ keys: ['own'], type: 'Note', body: note }]);
    const ran = execute(program.build(), { world: agent([{ type: 'own', title: 't' }, result]) });
    expect(events(ran)).toContain('noted Note {title: t, stars: 3}');
  });

  test('a handler may ask a model', () => {
    const program = listening([
      {
        keys: ['question'],
        body: (f) => {
          f.constant(2, { kind: 'model', name: 'M' });
          f.string(3, 'Which?');
          f.emit('CallMethod', 1, f.name('execute'), 2, 1);
          f.emit('Unwrap', 1, 1);
          f.emit('GetField', 1, 1, f.name('text'));
          f.emit('Return', 1);
        },
      },
    ]);
    const ran = execute(program.build(), { world: agent([question, result]) });
    expect(replies(ran)).toMatchObject([{ value: 'blue' }]);
  });

  test('a memory records the prompt and the result', () => {
    const program = listening([], { memory: true });
    program.module.init = program.fn('init', {}, (f) => f.emit('ReturnNil'));
    const main = program.module.main;
    program.fn('main', {}, (f) => {
      f.emit('Call', 0, main ?? 0, 4, 0);
      f.constant(1, { kind: 'memory', name: 'talk' });
      f.builtin(0, 'MemoryRef.messages', 1, 1);
      f.emit('Return', 0);
    });
    const ran = execute(program.build(), { world: agent([result]) });
    expect(shown(ran)).toBe('[Message {role: user, content: go}, Message {role: assistant, content: done}]');
  });

  test('execute without listen gives the text, and a scripted agent needs no process', () => {
    const program = withModel();
    program.module.agents.push({ name: 'A', connector: 'a', config: {}, decorators: [] });
    program.fn('main', {}, (f) => {
      f.constant(2, { kind: 'agent', name: 'A' });
      f.string(3, 'go');
      f.emit('CallMethod', 0, f.name('execute'), 2, 1);
      f.constant(2, { kind: 'agent', name: 'A' });
      f.string(4, 'result');
      f.string(5, 'scripted');
      f.emit('MakeMap', 3, 4, 1);
      f.builtin(4, '$mock', 2, 2);
      f.string(3, 'again');
      f.emit('CallMethod', 1, f.name('execute'), 2, 1);
      f.emit('MakeArray', 0, 0, 2);
      f.emit('Return', 0);
    });
    const ran = execute(program.build(), { world: agent([{ type: 'progress' }, question, result]) });
    expect(shown(ran)).toBe('[Ok(done), Ok(scripted)]');
    expect(replies(ran)).toMatchObject([{ error: 'unhandled' }]);
  });
});

describe('a pipeline', () => {
  function pipeline(
    stages: readonly {
      name: string;
      form?: 'chained' | 'named';
      decorators?: ProgramBuilder['module']['models'][number]['decorators'];
      params?: number;
      body: (f: FunctionBuilder) => void;
    }[],
  ): ProgramBuilder {
    const program = new ProgramBuilder();
    program.global('tries');
    program.module.pipelines.push({
      name: 'P',
      stages: stages.map(({ name, form, decorators, params, body }) => ({
        name,
        form: form ?? 'chained',
        function: program.fn(`P::${name}`, { params: params ?? 1, registers: 8 }, body),
        decorators: decorators ?? [],
      })),
    });
    program.fn('main', {}, (f) => {
      f.emit('LoadInt', 5, 0);
      f.emit('StoreGlobal', 0, 5);
      f.constant(2, { kind: 'pipeline', name: 'P' });
      f.emit('LoadInt', 3, 20);
      f.emit('CallMethod', 0, f.name('run'), 2, 1);
      f.emit('Return', 0);
    });
    return program;
  }
  const world = (request: Request): Answer => ok(request.kind === 'now' ? 7 : null);
  const increment = (f: FunctionBuilder) => {
    f.emit('AddInt', 1, 0, 1);
    f.emit('Return', 1);
  };
  const fails = (f: FunctionBuilder) => {
    f.string(1, 'bad');
    f.emit('MakeErr', 1, 1);
    f.emit('Return', 1);
  };

  test('hands each value on, unwraps Ok, and tells what it does', () => {
    const program = pipeline([
      { name: 'one', body: increment },
      {
        name: 'two',
        body: (f) => {
          f.emit('MulInt', 1, 0, 2);
          f.emit('MakeOk', 1, 1);
          f.emit('Return', 1);
        },
      },
    ]);
    const ran = execute(program.build(), { world });
    expect(shown(ran)).toBe('Ok(42)');
    expect(events(ran)).toEqual([
      'pipeline:start {"name": P, "stages": 2}',
      'pipeline:stage_start {"pipeline": P, "stage": one}',
      'pipeline:stage_complete {"pipeline": P, "stage": one, "duration_ms": 0}',
      'pipeline:stage_start {"pipeline": P, "stage": two}',
      'pipeline:stage_complete {"pipeline": P, "stage": two, "duration_ms": 0}',
      'pipeline:complete {"name": P, "duration_ms": 0}',
    ]);
  });

  test('a named stage sees the input and every value before it', () => {
    const program = pipeline([
      { name: 'one', form: 'named', body: increment },
      {
        name: 'two',
        form: 'named',
        params: 2,
        body: (f) => {
          f.emit('MakeArray', 2, 0, 2);
          f.emit('Return', 2);
        },
      },
    ]);
    expect(shown(execute(program.build(), { world }))).toBe('Ok([20, 21])');
  });

  test.each([
    ['an Err', fails, 'bad'],
    [
      'a fault',
      (f: FunctionBuilder) => {
        f.emit('LoadInt', 1, 0);
        f.emit('Div', 1, 0, 1);
        f.emit('Return', 1);
      },
      'division by zero',
    ],
  ])('%s in a stage is the pipeline’s Err, and later stages do not run', (_, body, text) => {
    const ran = execute(
      pipeline([
        { name: 'one', body },
        { name: 'two', body: increment },
      ]).build(),
      { world },
    );
    expect(shown(ran)).toBe(`Err(pipeline P: stage one failed: ${text})`);
    expect(events(ran).at(-1)).toBe(`pipeline:error {"pipeline": P, "stage": one, "error": ${text}}`);
  });

  test('@retry runs a stage again', () => {
    const program = pipeline([
      {
        name: 'flaky',
        decorators: [{ name: 'retry', args: [], named: { max: 3, backoff: 'none' } }],
        body: (f) => {
          const enough = f.label();
          f.emit('LoadGlobal', 1, 0);
          f.emit('AddInt', 1, 1, 1);
          f.emit('StoreGlobal', 0, 1);
          f.emit('JumpIfNotLtInt', 1, 3, enough);
          f.string(2, 'not yet');
          f.emit('Raise', 2);
          f.place(enough);
          f.emit('Return', 1);
        },
      },
    ]);
    expect(shown(execute(program.build(), { world }))).toBe('Ok(3)');
  });

  test('@timeout ends a stage', () => {
    const program = pipeline([
      {
        name: 'slow',
        decorators: [{ name: 'timeout', args: [], named: { seconds: 2 } }],
        body: (f) => {
          f.emit('LoadInt', 1, 60_000);
          f.builtin(1, 'std::time::sleep', 1, 1);
          f.emit('ReturnNil');
        },
      },
    ]);
    const ran = execute(program.build(), {
      world: (request) => (request.kind === 'sleep' && request.ms === 60_000 ? undefined : world(request)),
    });
    expect(shown(ran)).toBe('Err(pipeline P: stage slow failed: took longer than it may)');
  });
});
