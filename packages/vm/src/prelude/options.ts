import type { PreludeBuilder } from './define.ts';

/** Methods of Option and Result that call a function, `std::time::measure` and `every`. */
export function defineOptions(prelude: PreludeBuilder): void {
  defineOption(prelude);
  defineResult(prelude);
  defineEvery(prelude);
  prelude.define('std::time::measure', { params: 1, registers: 8 }, (f) => {
    f.builtin(1, 'std::time::now_ms', 4, 0);
    f.emit('CallValue', 2, 0, 4, 0);
    f.builtin(3, 'std::time::now_ms', 4, 0);
    f.emit('Sub', 3, 3, 1);
    f.emit('MakeArray', 2, 2, 2);
    f.emit('Return', 2);
  });
}

function defineOption(prelude: PreludeBuilder): void {
  prelude.define('Option.map', { params: 2, registers: 6 }, (f) => {
    const none = f.label();
    f.emit('JumpIfNotSome', 0, none);
    f.emit('Unwrap', 2, 0);
    f.emit('CallValue', 2, 1, 2, 1);
    f.emit('MakeSome', 2, 2);
    f.emit('Return', 2);
    f.place(none);
    f.emit('LoadNone', 2);
    f.emit('Return', 2);
  });
  prelude.define('Option.and_then', { params: 2, registers: 6 }, (f) => {
    const none = f.label();
    f.emit('JumpIfNotSome', 0, none);
    f.emit('Unwrap', 2, 0);
    f.emit('CallValue', 2, 1, 2, 1);
    f.emit('Return', 2);
    f.place(none);
    f.emit('LoadNone', 2);
    f.emit('Return', 2);
  });
  prelude.define('Option.filter', { params: 2, registers: 6 }, (f) => {
    const none = f.label();
    f.emit('JumpIfNotSome', 0, none);
    f.emit('Unwrap', 2, 0);
    f.emit('CallValue', 2, 1, 2, 1);
    f.emit('JumpIfNot', 2, none);
    f.emit('Move', 2, 0);
    f.emit('Return', 2);
    f.place(none);
    f.emit('LoadNone', 2);
    f.emit('Return', 2);
  });
  for (const [name, keep] of [
    ['Option.unwrap_or_else', 'Unwrap'],
    ['Option.or_else', 'Move'],
  ] as const) {
    prelude.define(name, { params: 2, registers: 6 }, (f) => {
      const none = f.label();
      f.emit('JumpIfNotSome', 0, none);
      f.emit(keep, 2, 0);
      f.emit('Return', 2);
      f.place(none);
      f.emit('CallValue', 2, 1, 2, 0);
      f.emit('Return', 2);
    });
  }
}

function defineResult(prelude: PreludeBuilder): void {
  /** What happens to Ok and to Err: call f with the inside, and wrap what it gives. */
  const rows = [
    { name: 'Result.map', on: 'ok', wrap: 'MakeOk', other: 'Move' },
    { name: 'Result.and_then', on: 'ok', wrap: null, other: 'Move' },
    { name: 'Result.map_err', on: 'err', wrap: 'MakeErr', other: 'Move' },
    { name: 'Result.or_else', on: 'err', wrap: null, other: 'Move' },
    { name: 'Result.unwrap_or_else', on: 'err', wrap: null, other: 'Unwrap' },
  ] as const;
  for (const { name, on, wrap, other } of rows) {
    prelude.define(name, { params: 2, registers: 6 }, (f) => {
      const [skip, inside] = [f.label(), f.label()];
      // What comes here is meant as a Result: all but Err is Ok.
      f.emit('JumpIfNotErr', 0, on === 'ok' ? inside : skip);
      if (on === 'ok') f.emit('Jump', skip);
      f.place(inside);
      f.emit('Unwrap', 2, 0);
      f.emit('CallValue', 2, 1, 2, 1);
      if (wrap !== null) f.emit(wrap, 2, 2);
      f.emit('Return', 2);
      f.place(skip);
      f.emit(other, 2, 0);
      f.emit('Return', 2);
    });
  }
}

/** The times are counted from the first; those that passed while a call took longer, or nobody ran, are left out. */
function defineEvery(prelude: PreludeBuilder): void {
  prelude.define('every', { params: 2, registers: 12 }, (f) => {
    const [again, late, end] = [f.label(), f.label(), f.label()];
    const [time, call, interval, due, count, given, now, no] = [0, 1, 2, 3, 4, 5, 6, 7];
    f.emit('Move', 8, time);
    f.builtin(interval, '$duration', 8, 1);
    f.builtin(due, 'std::time::now_ms', 8, 0);
    f.emit('LoadInt', count, 0);
    f.emit('LoadFalse', no);
    f.place(again);
    f.emit('Move', 8, count);
    f.emit('CallValue', given, call, 8, 1);
    f.emit('JumpIfEq', given, no, end);
    f.emit('AddInt', count, count, 1);
    f.emit('Add', due, due, interval);
    f.builtin(now, 'std::time::now_ms', 8, 0);
    f.emit('JumpIfNotLt', due, now, late);
    f.emit('Move', due, now);
    f.place(late);
    f.emit('Sub', 8, due, now);
    f.builtin(8, 'std::time::sleep', 8, 1);
    f.emit('Jump', again);
    f.place(end);
    f.emit('AddInt', count, count, 1);
    f.emit('Return', count);
  });
}
