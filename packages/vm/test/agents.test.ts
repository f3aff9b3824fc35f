import type { Json } from '@concerto/base';
import { describe, expect, test } from 'vitest';
import { display } from '../src/display.ts';
import type { Answer, Effect, Request } from '../src/effects.ts';
import { createVm, resume, run } from '../src/vm.ts';
import { events, no, ok, replies, says, shown, withModel } from './conversation.ts';
import { execute, type FunctionBuilder, type ProgramBuilder, valueOf } from './support.ts';

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
    [
      'an error whose message is no text',
      [{ type: 'error', message: { disk: 'full' } }],
      '{"disk":"full"}',
      'reported',
    ],
    ['an error without a message', [{ type: 'error' }], 'the agent reported an error', 'reported'],
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

  test('a session that loses a race is closed', () => {
    const program = withModel();
    program.module.agents.push({ name: 'A', connector: 'a', config: {}, decorators: [] });
    const work = program.fn('work', { registers: 6 }, (f) => {
      f.constant(1, { kind: 'agent', name: 'A' });
      f.string(2, 'go');
      f.emit('CallMethod', 0, f.name('execute'), 1, 1);
      f.emit('Return', 0);
    });
    program.fn('main', {}, (f) => {
      f.emit('MakeClosure', 2, work, 2);
      f.emit('LoadInt', 3, 50);
      f.emit('Deadline', 0, 2, 3);
      f.emit('Return', 0);
    });
    const vm = createVm(program.build(), { entry: 'main' });
    const [timer, open] = run(vm).effects.flatMap((effect) => ('id' in effect ? [effect.id] : []));
    resume(vm, open ?? -1, ok({ session: 's9' }));
    expect(run(vm).status).toBe('waiting');
    resume(vm, timer ?? -1, ok(null));
    const last = run(vm);
    expect(last.status).toBe('failed');
    expect(last.effects).toContainEqual({ kind: 'agent_close', session: 's9', reason: 'cancelled' });
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
