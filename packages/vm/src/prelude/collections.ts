import type { Body, PreludeBuilder } from './define.ts';

const SELF = 0;
const F = 1;
const RESULT = 2;
const ITERATOR = 3;
const ITEM = 4;
const WINDOW = 5;

/** Methods that call a function for each element. Registers: self, f, result, iterator, element, then windows. */
export function defineCollections(prelude: PreludeBuilder): void {
  for (const type of ['Array', 'Range']) {
    each(prelude, `${type}.map`, emptyArray, (f) => {
      callWithItem(f, WINDOW + 1);
      push(f, WINDOW + 1);
    });
    each(prelude, `${type}.filter`, emptyArray, (f, next) => {
      callWithItem(f, WINDOW);
      f.emit('JumpIfNot', WINDOW, next);
      push(f, ITEM);
    });
    each(
      prelude,
      `${type}.for_each`,
      (f) => f.emit('LoadNil', RESULT),
      (f) => callWithItem(f, WINDOW),
    );
  }
  defineReduce(prelude);
  for (const type of ['Array', 'Range']) {
    defineSearches(prelude, type, callWithItem);
    each(prelude, `${type}.flat_map`, emptyArray, (f) => {
      callWithItem(f, WINDOW + 1);
      f.emit('Borrow', WINDOW, RESULT);
      f.builtin(WINDOW + 2, 'Array.extend', WINDOW, 2);
      f.emit('Borrow', RESULT, WINDOW);
    });
  }
  defineIndexSearch(prelude);
  each(
    prelude,
    'Range.sum',
    (f) => f.emit('LoadInt', RESULT, 0),
    (f) => f.emit('Add', RESULT, RESULT, ITEM),
  );
  each(
    prelude,
    'Array.group_by',
    (f) => f.emit('MakeMap', RESULT, RESULT, 0),
    (f) => {
      callWithItem(f, WINDOW + 1);
      f.emit('Borrow', WINDOW, RESULT);
      f.emit('Borrow', WINDOW + 2, ITEM);
      f.builtin(WINDOW + 3, '$group', WINDOW, 3);
    },
  );
  defineSorts(prelude);
  defineMaps(prelude);
}

const emptyArray = (f: Body): void => f.emit('MakeArray', RESULT, RESULT, 0);

function each(
  prelude: PreludeBuilder,
  name: string,
  init: (f: Body) => void,
  body: (f: Body, next: ReturnType<Body['label']>) => void,
): void {
  prelude.define(name, { params: 2, registers: 12 }, (f) => {
    const loop = f.label();
    const exit = f.label();
    init(f);
    f.emit('IterBegin', ITERATOR, SELF);
    f.place(loop);
    f.emit('IterNext', ITEM, ITERATOR, exit);
    body(f, loop);
    f.emit('Jump', loop);
    f.place(exit);
    f.emit('Return', RESULT);
  });
}

/** dst = f(item). */
function callWithItem(f: Body, dst: number): void {
  f.emit('Borrow', WINDOW, ITEM);
  f.emit('CallValue', dst, F, WINDOW, 1);
}

function push(f: Body, value: number): void {
  f.emit('Borrow', WINDOW + 2, value);
  f.emit('Borrow', WINDOW + 1, RESULT);
  f.builtin(WINDOW + 3, '$push', WINDOW + 1, 2);
}

/** self, init, f: the value of init is the accumulator. */
function defineReduce(prelude: PreludeBuilder): void {
  for (const name of ['Array.reduce', 'Array.fold', 'Range.reduce', 'Range.fold']) {
    prelude.define(name, { params: 3, registers: 10 }, (f) => {
      const loop = f.label();
      const exit = f.label();
      f.emit('Move', 3, 1);
      f.emit('IterBegin', 4, SELF);
      f.place(loop);
      f.emit('IterNext', 6, 4, exit);
      f.emit('Borrow', 5, 3);
      f.emit('CallValue', 3, 2, 5, 2);
      f.emit('Jump', loop);
      f.place(exit);
      f.emit('Return', 3);
    });
  }
}

/** Calls f with what the iterator gave: the element, or its key and value. */
type CallWithEach = (f: Body, dst: number) => void;

/** Searches end at the first element for which f holds (or does not hold). */
function defineSearches(prelude: PreludeBuilder, type: string, callWith: CallWithEach): void {
  each(
    prelude,
    `${type}.find`,
    (f) => f.emit('LoadNone', RESULT),
    (f, next) => {
      callWith(f, WINDOW);
      f.emit('JumpIfNot', WINDOW, next);
      f.emit('MakeSome', RESULT, ITEM);
      f.emit('Return', RESULT);
    },
  );
  each(
    prelude,
    `${type}.any`,
    (f) => f.emit('LoadFalse', RESULT),
    (f, next) => {
      callWith(f, WINDOW);
      f.emit('JumpIfNot', WINDOW, next);
      f.emit('LoadTrue', RESULT);
      f.emit('Return', RESULT);
    },
  );
  each(
    prelude,
    `${type}.all`,
    (f) => f.emit('LoadTrue', RESULT),
    (f, next) => {
      callWith(f, WINDOW);
      f.emit('JumpIf', WINDOW, next);
      f.emit('LoadFalse', RESULT);
      f.emit('Return', RESULT);
    },
  );
  each(
    prelude,
    `${type}.count`,
    (f) => f.emit('LoadInt', RESULT, 0),
    (f, next) => {
      callWith(f, WINDOW);
      f.emit('JumpIfNot', WINDOW, next);
      f.emit('AddInt', RESULT, RESULT, 1);
    },
  );
}

function defineIndexSearch(prelude: PreludeBuilder): void {
  prelude.define('Array.find_index', { params: 2, registers: 12 }, (f) => {
    const loop = f.label();
    const exit = f.label();
    f.emit('LoadInt', RESULT, -1);
    f.emit('IterBegin', ITERATOR, SELF);
    f.place(loop);
    f.emit('IterNext', ITEM, ITERATOR, exit);
    f.emit('AddInt', RESULT, RESULT, 1);
    callWithItem(f, WINDOW);
    f.emit('JumpIfNot', WINDOW, loop);
    f.emit('MakeSome', RESULT, RESULT);
    f.emit('Return', RESULT);
    f.place(exit);
    f.emit('LoadNone', RESULT);
    f.emit('Return', RESULT);
  });
}

/** By binary insertion: as few calls of the comparison as any sort, and stable. */
function defineSorts(prelude: PreludeBuilder): void {
  const [LOW, HIGH, MIDDLE, CALL] = [5, 6, 7, 8];
  prelude.define('Array.sort_by', { params: 2, registers: 14 }, (f) => {
    const [next, search, before, found, exit] = [f.label(), f.label(), f.label(), f.label(), f.label()];
    emptyArray(f);
    f.emit('IterBegin', ITERATOR, SELF);
    f.place(next);
    f.emit('IterNext', ITEM, ITERATOR, exit);
    f.emit('LoadInt', LOW, 0);
    f.builtin(HIGH, 'Array.len', RESULT, 1);
    f.place(search);
    f.emit('JumpIfNotLt', LOW, HIGH, found);
    f.emit('Add', MIDDLE, LOW, HIGH);
    f.emit('LoadInt', CALL, 2);
    f.emit('Div', MIDDLE, MIDDLE, CALL);
    f.emit('Borrow', CALL, ITEM);
    f.emit('PeekIndex', CALL + 1, RESULT, MIDDLE);
    f.emit('CallValue', CALL, F, CALL, 2);
    f.builtin(CALL, '$before', CALL, 1);
    f.emit('JumpIf', CALL, before);
    f.emit('AddInt', LOW, MIDDLE, 1);
    f.emit('Jump', search);
    f.place(before);
    f.emit('Borrow', HIGH, MIDDLE);
    f.emit('Jump', search);
    f.place(found);
    f.emit('Borrow', CALL, RESULT);
    f.emit('Borrow', CALL + 1, LOW);
    f.emit('Borrow', CALL + 2, ITEM);
    f.builtin(CALL + 3, 'Array.insert', CALL, 3);
    f.emit('Jump', next);
    f.place(exit);
    f.emit('Return', RESULT);
  });
  prelude.define('Array.sort_by_key', { params: 2, registers: 12 }, (f) => {
    f.emit('Borrow', 2, SELF);
    f.emit('Borrow', 3, F);
    f.call(3, 'Array.map', 2, 2);
    f.emit('Borrow', 2, SELF);
    f.builtin(4, '$sort_by_keys', 2, 2);
    f.emit('Return', 4);
  });
}

/** Methods of Map and HashMap: the function gets key and value. */
function defineMaps(prelude: PreludeBuilder): void {
  const callWithPair = (f: Body, dst: number): void => {
    f.emit('GetItem', WINDOW, ITEM, 0);
    f.emit('GetItem', WINDOW + 1, ITEM, 1);
    f.emit('CallValue', dst, F, WINDOW, 2);
  };
  const set = (f: Body, value: number): void => {
    f.emit('Borrow', WINDOW + 3, value);
    f.emit('GetItem', WINDOW + 2, ITEM, 0);
    f.emit('Borrow', WINDOW + 1, RESULT);
    f.builtin(WINDOW + 4, 'Map.set', WINDOW + 1, 3);
  };
  const newMap = (f: Body): void => f.emit('MakeMap', RESULT, RESULT, 0);
  each(prelude, 'Map.map', emptyArray, (f) => {
    callWithPair(f, WINDOW);
    push(f, WINDOW);
  });
  each(
    prelude,
    'Map.for_each',
    (f) => f.emit('LoadNil', RESULT),
    (f) => callWithPair(f, WINDOW),
  );
  each(prelude, 'Map.filter', newMap, (f, next) => {
    callWithPair(f, WINDOW);
    f.emit('JumpIfNot', WINDOW, next);
    f.emit('GetItem', WINDOW, ITEM, 1);
    set(f, WINDOW);
  });
  each(prelude, 'Map.map_values', newMap, (f) => {
    f.emit('GetItem', WINDOW, ITEM, 1);
    f.emit('CallValue', WINDOW, F, WINDOW, 1);
    set(f, WINDOW);
  });
  each(prelude, 'HashMapRef.query', emptyArray, (f, next) => {
    callWithPair(f, WINDOW);
    f.emit('JumpIfNot', WINDOW, next);
    push(f, ITEM);
  });
  for (const type of ['Map', 'HashMapRef']) defineSearches(prelude, type, callWithPair);
}
