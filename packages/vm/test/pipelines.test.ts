import { describe, expect, test } from 'vitest';
import type { Answer, Request } from '../src/effects.ts';
import { events, ok, shown } from './conversation.ts';
import { execute, type FunctionBuilder, ProgramBuilder } from './support.ts';

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

  test('a value that is not of the declared type fails the stage', () => {
    const program = pipeline([{ name: 'one', body: increment }]);
    const [declared] = program.module.pipelines;
    if (declared !== undefined) declared.input = 'String';
    expect(shown(execute(program.build(), { world }))).toBe(
      'Err(pipeline P: stage one failed: value: expected a String, found Int 20)',
    );
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
