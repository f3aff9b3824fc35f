import { describe, expect, test } from 'vitest';
import { display } from '../src/display.ts';
import { createVm, run } from '../src/vm.ts';
import { execute, type FunctionBuilder, ProgramBuilder, type Ran, type RunOptions, valueOf } from './support.ts';

/** Runs the body as `main`. */
function main(body: (f: FunctionBuilder, program: ProgramBuilder) => void, options: RunOptions = {}): Ran {
  const program = new ProgramBuilder();
  program.fn('main', {}, (f) => body(f, program));
  return execute(program.build(), options);
}

const shown = (ran: Ran): string => display(valueOf(ran));
const emitted = (ran: Ran): string[] =>
  ran.effects.flatMap((effect) => (effect.kind === 'emit' ? [`${effect.channel} ${display(effect.payload)}`] : []));
const failure = (ran: Ran) => {
  if (ran.status.status !== 'failed') throw new Error(`not failed: ${ran.status.status}`);
  return ran.status.failure;
};

describe('values', () => {
  test('a moved array is a copy: changing one place leaves the other', () => {
    const ran = main((f) => {
      f.emit('LoadInt', 5, 1);
      f.emit('MakeArray', 0, 5, 1);
      f.emit('Move', 1, 0);
      f.emit('LoadInt', 5, 9);
      f.emit('LoadInt', 6, 0);
      f.emit('Own', 1);
      f.emit('SetIndex', 1, 6, 5);
      f.emit('MakeArray', 2, 0, 2);
      f.emit('Return', 2);
    });
    expect(shown(ran)).toBe('[[1], [9]]');
  });

  test('a change deep in a path copies only what is shared', () => {
    const ran = main((f) => {
      f.emit('LoadInt', 5, 1);
      f.emit('MakeArray', 6, 5, 1);
      f.emit('MakeArray', 0, 6, 1);
      f.emit('Move', 1, 0);
      f.emit('Own', 1);
      f.emit('LoadInt', 7, 0);
      f.emit('OwnIndex', 8, 1, 7);
      f.emit('LoadInt', 9, 5);
      f.emit('SetIndex', 8, 7, 9);
      f.emit('MakeArray', 2, 0, 2);
      f.emit('Return', 2);
    });
    expect(shown(ran)).toBe('[[[1]], [[5]]]');
  });

  test('pushing in a loop is linear', () => {
    const steps = (count: number): number => {
      const program = new ProgramBuilder();
      program.fn('main', {}, (f) => {
        const [body, exit] = [f.label(), f.label()];
        f.emit('MakeArray', 0, 0, 0);
        f.emit('LoadInt', 1, 0);
        f.emit('LoadInt', 2, count);
        f.emit('ForIntBegin', 1, 0, exit);
        f.place(body);
        f.emit('Borrow', 4, 0);
        f.emit('Borrow', 5, 1);
        f.builtin(3, 'Array.push', 4, 2);
        f.emit('Borrow', 0, 4);
        f.emit('ForIntNext', 1, body);
        f.place(exit);
        f.emit('Return', 0);
      });
      const value = valueOf(execute(program.build()));
      if (typeof value !== 'object' || value === null || value.kind !== 'array') throw new Error('no array');
      return value.items.length;
    };
    // Quadratic copying would move twenty thousand million elements here.
    expect(steps(200_000)).toBe(200_000);
  });

  test('Int is exact up to its bounds, and an overflow is an error that can be caught', () => {
    const ran = main((f) => {
      const [start, end, caught] = [f.label(), f.label(), f.label()];
      f.constant(0, { kind: 'int', value: Number.MAX_SAFE_INTEGER });
      f.place(start);
      f.emit('AddInt', 1, 0, 1);
      f.place(end);
      f.emit('Return', 1);
      f.place(caught);
      f.builtin(2, 'typeof', 2, 1);
      f.emit('Return', 2);
      f.handler(start, end, caught, 2);
    });
    expect(shown(ran)).toBe('OverflowError');
  });
});

describe('calls', () => {
  test('recursion with windows that overlap', () => {
    const program = new ProgramBuilder();
    program.fn('fib', { params: 1, registers: 5 }, (f) => {
      const more = f.label();
      f.emit('JumpIfNotLtInt', 0, 2, more);
      f.emit('Return', 0);
      f.place(more);
      f.emit('AddInt', 3, 0, -1);
      f.emit('Call', 2, 0, 3, 1);
      f.emit('AddInt', 4, 0, -2);
      f.emit('Call', 3, 0, 4, 1);
      f.emit('Add', 1, 2, 3);
      f.emit('Return', 1);
    });
    program.fn('main', {}, (f) => {
      f.emit('LoadInt', 1, 15);
      f.emit('Call', 0, 0, 1, 1);
      f.emit('Return', 0);
    });
    expect(shown(execute(program.build()))).toBe('610');
  });

  test('a missing argument takes its default', () => {
    const program = new ProgramBuilder();
    program.fn('greet', { params: 1, registers: 2 }, (f) => {
      const given = f.label();
      f.emit('JumpIfGiven', 0, given);
      f.string(0, 'nobody');
      f.place(given);
      f.emit('Return', 0);
    });
    program.fn('main', {}, (f) => {
      f.emit('Call', 0, 0, 4, 0);
      f.string(4, 'you');
      f.emit('Call', 1, 0, 4, 1);
      f.emit('MakeArray', 0, 0, 2);
      f.emit('Return', 0);
    });
    expect(shown(execute(program.build()))).toBe('[nobody, you]');
  });

  test('closures share a cell, and each has its own', () => {
    const program = new ProgramBuilder();
    const next = program.fn('next', { params: 0, captures: 1, registers: 3 }, (f) => {
      f.emit('LoadCell', 1, 0);
      f.emit('AddInt', 1, 1, 1);
      f.emit('StoreCell', 0, 1);
      f.emit('LoadCell', 2, 0);
      f.emit('Return', 2);
    });
    program.fn('main', {}, (f) => {
      for (const register of [0, 1]) {
        f.emit('LoadInt', 5, 0);
        f.emit('NewCell', 5, 5);
        f.emit('MakeClosure', register, next, 5);
      }
      f.emit('CallValue', 2, 0, 6, 0);
      f.emit('CallValue', 2, 0, 6, 0);
      f.emit('CallValue', 3, 1, 6, 0);
      f.emit('MakeArray', 2, 2, 2);
      f.emit('Return', 2);
    });
    expect(shown(execute(program.build()))).toBe('[2, 1]');
  });

  test('a mut self method leaves its receiver in the first register of the window', () => {
    const program = new ProgramBuilder();
    program.module.structs.push({ name: 'Counter', kind: 'struct', fields: [{ name: 'n', type: 'Int' }] });
    const up = program.fn('Counter::up', { params: 1, registers: 4, mutSelf: true }, (f) => {
      f.emit('Own', 0);
      f.emit('PeekField', 1, 0, f.name('n'));
      f.emit('AddInt', 1, 1, 1);
      f.emit('SetField', 0, f.name('n'), 1);
      f.emit('ReturnNil');
    });
    program.module.methods.Counter = { up };
    program.fn('main', {}, (f) => {
      f.emit('LoadInt', 5, 41);
      f.emit('MakeStruct', 0, 0, 5);
      f.emit('Move', 1, 0);
      f.emit('Borrow', 6, 0);
      f.emit('CallMethod', 5, f.name('up'), 6, 0);
      f.emit('Borrow', 0, 6);
      f.emit('MakeArray', 0, 0, 2);
      f.emit('Return', 0);
    });
    expect(shown(execute(program.build()))).toBe('[Counter {n: 42}, Counter {n: 41}]');
  });

  test.each([
    ['too few', 1],
    ['too many', 3],
  ])('%s arguments for a function value are a fault', (_, count) => {
    const program = new ProgramBuilder();
    const add = program.fn('add', { params: 2, registers: 3 }, (f) => {
      f.emit('Add', 2, 0, 1);
      f.emit('Return', 2);
    });
    program.fn('main', {}, (f) => {
      f.constant(0, { kind: 'function', index: add });
      for (let index = 0; index < count; index++) f.emit('LoadInt', 2 + index, index);
      f.emit('CallValue', 1, 0, 2, count);
      f.emit('Return', 1);
    });
    expect(failure(execute(program.build())).message).toBe(`add takes 2 arguments, ${count} given`);
  });

  test('a method that is not there says so', () => {
    const ran = main((f) => {
      f.emit('LoadInt', 3, 1);
      f.emit('CallMethod', 0, f.name('fly'), 3, 0);
      f.emit('Return', 0);
    });
    expect(failure(ran).message).toBe("Int has no method 'fly'");
  });
});

describe('faults', () => {
  test('go to the innermost handler up the stack, and name their place when there is none', () => {
    const program = new ProgramBuilder();
    program.module.files.push('src/main.conc');
    const divide = program.fn('divide', { params: 2, registers: 3 }, (f) => {
      f.line(3);
      f.emit('Div', 2, 0, 1);
      f.emit('Return', 2);
    });
    program.fn('main', {}, (f) => {
      f.line(7);
      f.emit('LoadInt', 1, 1);
      f.emit('LoadInt', 2, 0);
      f.line(8);
      f.emit('Call', 0, divide, 1, 2);
      f.emit('Return', 0);
    });
    for (const fn of program.module.functions) fn.file = 0;
    const { message, trace } = failure(execute(program.build()));
    expect(message).toBe('division by zero');
    expect(trace).toEqual([
      { function: 'divide', file: 'src/main.conc', line: 3, column: 1 },
      { function: 'main', file: 'src/main.conc', line: 8, column: 1 },
    ]);
  });

  test('recursion without end is an error that can be caught', () => {
    const program = new ProgramBuilder();
    program.fn('down', { params: 0, registers: 2 }, (f) => {
      f.emit('Call', 0, 0, 1, 0);
      f.emit('Return', 0);
    });
    program.fn('main', {}, (f) => {
      const [start, end, caught] = [f.label(), f.label(), f.label()];
      f.place(start);
      f.emit('Call', 0, 0, 1, 0);
      f.place(end);
      f.emit('Return', 0);
      f.place(caught);
      f.emit('GetField', 4, 2, f.name('message'));
      f.emit('Return', 4);
      f.handler(start, end, caught, 2);
    });
    expect(shown(execute(program.build()))).toBe('recursion deeper than 10000 calls, the limit `depth`');
  });

  test('a limit of steps ends the program, caught or not', () => {
    const ran = main(
      (f) => {
        const [start, end, caught] = [f.label(), f.label(), f.label()];
        f.place(start);
        f.emit('Jump', start);
        f.place(end);
        f.emit('ReturnNil');
        f.place(caught);
        f.emit('ReturnNil');
        f.handler(start, end, caught, 2);
      },
      { limits: { steps: 1000 }, budget: 100 },
    );
    expect(failure(ran).message).toBe(
      'more than 1000 steps without an effect, its limit `steps`: a loop that never ends',
    );
  });

  test.each(['Jump', 'JumpIf', 'JumpIfEqInt', 'JumpIfNotLtInt'] as const)(
    'a loop closed by %s gives control back',
    (op) => {
      const program = new ProgramBuilder();
      program.fn('main', {}, (f) => {
        const again = f.label();
        f.emit('LoadInt', 0, 5);
        f.place(again);
        if (op === 'Jump') f.emit(op, again);
        else if (op === 'JumpIf') f.emit(op, 0, again);
        else f.emit(op, 0, 5, again);
        f.emit('ReturnNil');
      });
      const vm = createVm(program.build(), { entry: 'main' });
      expect(run(vm, 1000).status).toBe('running');
      expect(run(vm, 1000).status).toBe('running');
    },
  );

  test('a value may not grow without end', () => {
    const ran = main(
      (f) => {
        const again = f.label();
        f.string(0, 'x');
        f.place(again);
        f.emit('Add', 0, 0, 0);
        f.emit('Jump', again);
        f.emit('ReturnNil');
      },
      { limits: { size: 1000 } },
    );
    expect(failure(ran).message).toBe('a string longer than 1000, the limit `size`');
    const list = main(
      (f) => {
        const again = f.label();
        f.emit('LoadInt', 1, 1);
        f.emit('MakeArray', 0, 1, 1);
        f.place(again);
        f.emit('Add', 0, 0, 0);
        f.emit('Jump', again);
        f.emit('ReturnNil');
      },
      { limits: { size: 1000 } },
    );
    expect(failure(list).message).toBe('a collection of more than 1000 elements, the limit `size`');
  });

  test('panic is not caught', () => {
    const ran = main((f) => {
      const [start, end, caught] = [f.label(), f.label(), f.label()];
      f.place(start);
      f.string(1, 'out of cheese');
      f.builtin(0, 'panic', 1, 1);
      f.place(end);
      f.emit('ReturnNil');
      f.place(caught);
      f.emit('ReturnNil');
      f.handler(start, end, caught, 2);
    });
    expect(failure(ran)).toMatchObject({ message: 'out of cheese', panic: true });
    expect(emitted(ran)).toEqual(['panic out of cheese']);
  });

  test('a module variable has no value before its initialiser', () => {
    const ran = main((f, program) => {
      const slot = program.global('total');
      f.emit('LoadGlobal', 0, slot);
      f.emit('Return', 0);
    });
    expect(failure(ran).message).toBe("'total' is used before it has a value");
  });
});

describe('fibers', () => {
  /** main waits for two closures that sleep; each says when it begins and ends. */
  function sleepers(op: 'AwaitAll' | 'Race'): ProgramBuilder {
    const program = new ProgramBuilder();
    const sleeper = program.fn('sleeper', { params: 0, captures: 1, registers: 6 }, (f) => {
      f.tell('begin', 0, 1);
      f.emit('Borrow', 1, 0);
      f.builtin(1, 'std::time::sleep', 1, 1);
      f.tell('end', 0, 1);
      f.emit('Return', 0);
    });
    program.fn('main', {}, (f) => {
      [30, 10].forEach((ms, index) => {
        f.emit('LoadInt', 5, ms);
        f.emit('MakeClosure', 2 + index, sleeper, 5);
      });
      f.emit(op, 0, 2, 2);
      f.emit('Return', 0);
    });
    return program;
  }

  test('closures run at the same time; their values keep their order', () => {
    const module = sleepers('AwaitAll').build();
    const asked: number[] = [];
    const ran = execute(module, {
      world: (request) => {
        if (request.kind === 'sleep') asked.push(request.ms);
        return { ok: true, value: null };
      },
    });
    expect(asked).toEqual([30, 10]);
    expect(emitted(ran).slice(0, 2)).toEqual(['begin 30', 'begin 10']);
    expect(shown(ran)).toBe('[30, 10]');
  });

  test('the first of a race wins, and what the others wait for is cancelled', () => {
    const ran = execute(sleepers('Race').build(), {
      world: (request) => (request.kind === 'sleep' && request.ms === 10 ? { ok: true, value: null } : undefined),
    });
    expect(shown(ran)).toBe('10');
    expect(ran.effects.filter((effect) => effect.kind === 'cancel')).toHaveLength(1);
  });

  test('a fault in one ends the others and goes to the parent', () => {
    const program = new ProgramBuilder();
    const sleeper = program.fn('sleeper', { params: 0, registers: 3 }, (f) => {
      f.emit('LoadInt', 0, 1000);
      f.builtin(0, 'std::time::sleep', 0, 1);
      f.emit('ReturnNil');
    });
    const broken = program.fn('broken', { params: 0, registers: 3 }, (f) => {
      f.emit('LoadInt', 0, 0);
      f.emit('Div', 1, 0, 0);
      f.emit('ReturnNil');
    });
    program.fn('main', {}, (f) => {
      const [start, end, caught] = [f.label(), f.label(), f.label()];
      f.emit('MakeClosure', 2, sleeper, 2);
      f.emit('MakeClosure', 3, broken, 3);
      f.place(start);
      f.emit('AwaitAll', 0, 2, 2);
      f.place(end);
      f.emit('Return', 0);
      f.place(caught);
      f.emit('GetField', 8, 6, f.name('message'));
      f.emit('Return', 8);
      f.handler(start, end, caught, 6);
    });
    const ran = execute(program.build());
    expect(shown(ran)).toBe('division by zero');
    expect(ran.effects.some((effect) => effect.kind === 'cancel')).toBe(true);
  });

  test('no more than the limit run at once', () => {
    const program = new ProgramBuilder();
    const sleeper = program.fn('sleeper', { params: 0, registers: 3 }, (f) => {
      f.emit('LoadInt', 0, 5);
      f.builtin(0, 'std::time::sleep', 0, 1);
      f.emit('ReturnNil');
    });
    program.fn('main', {}, (f) => {
      for (let index = 0; index < 6; index++) f.emit('MakeClosure', 4 + index, sleeper, 4);
      f.emit('MakeArray', 4, 4, 6);
      f.emit('LoadInt', 5, 2);
      f.emit('AwaitEach', 0, 4, 5);
      f.builtin(0, 'len', 0, 1);
      f.emit('Return', 0);
    });
    let open = 0;
    let most = 0;
    const waiting: number[] = [];
    const ran = execute(program.build(), {
      world: (request) => {
        open++;
        most = Math.max(most, open);
        waiting.push(request.id);
        open--;
        return { ok: true, value: null };
      },
    });
    expect(shown(ran)).toBe('6');
    expect(waiting).toHaveLength(6);
    expect(most).toBeLessThanOrEqual(2);
  });

  test('a deadline ends what takes too long', () => {
    const program = new ProgramBuilder();
    const slow = program.fn('slow', { params: 0, registers: 3 }, (f) => {
      f.emit('LoadInt', 0, 60_000);
      f.builtin(0, 'std::time::sleep', 0, 1);
      f.emit('ReturnNil');
    });
    program.fn('main', {}, (f) => {
      f.emit('MakeClosure', 2, slow, 2);
      f.emit('LoadInt', 3, 100);
      f.emit('Deadline', 0, 2, 3);
      f.emit('Return', 0);
    });
    const ran = execute(program.build(), {
      world: (request) => (request.kind === 'sleep' && request.ms === 100 ? { ok: true, value: null } : undefined),
    });
    expect(failure(ran).message).toBe('took longer than it may');
  });
});
