/* oxlint-disable typescript/no-non-null-assertion, typescript/no-unsafe-type-assertion -- code offsets and table indices were checked by the validator; a check at
   each of them would double the cost of the loop. */
import {
  concat,
  getField,
  getIndex,
  hasType,
  isNone,
  isOkOrBare,
  isResult,
  isStructOf,
  iterate,
  makeMap,
  makeRange,
  ownField,
  ownIndex,
  rangeBounds,
  setField,
  setIndex,
  unwrap,
} from './access.ts';
import {
  add,
  divide,
  less,
  lessOrEqual,
  multiply,
  negate,
  overflow,
  power,
  remainder,
  subtract,
} from './arithmetic.ts';
import { cast } from './cast.ts';
import { copyItems, share } from './copy-on-write.ts';
import { type Callee, calleeOf, findMethod } from './dispatch.ts';
import type { Dispatched } from './dispatched-opcodes.ts';
import { display, typeName } from './display.ts';
import { equal } from './equality.ts';
import { errorValue, Fault, fault } from './fault.ts';
import { fit, fitArguments } from './fit.ts';
import { beginGroup, type GroupStart, leaveFrames, PARALLEL_LIMIT } from './group.ts';
import type { Fiber, Vm } from './machine.ts';
import { accountSlots, ownIn } from './memory.ts';
import { compare } from './order.ts';
import type { LinkedFunction } from './program.ts';
import { suspend } from './request.ts';
import { faultValue, unwind } from './unwind.ts';
import { array, errValue, float, MAX_INT, NONE, okValue, type StructType, some, truthy, type Value } from './value.ts';

export type Stop = 'finished' | 'waiting' | 'failed' | 'out of fuel';

/**
 * Runs a fiber until it ends, has to wait, fails, or has used up its fuel (one for each call and each turn of a loop).
 *
 * The opcodes are written as numbers: only then is the switch compiled to one jump table. A test compares the names behind
 * them with the table of opcodes. `pc` stays at the instruction until it is done, so that a fault knows where it happened.
 */
export function interpret(vm: Vm, fiber: Fiber, budget: number): { stop: Stop; fuel: number } {
  const { stack, functions: frames, next, bases, results } = fiber;
  const { globals } = vm;
  const maxDepth = vm.limits.depth;
  let fuel = budget;
  let depth = fiber.depth;
  let fn: LinkedFunction = frames[depth - 1]!;
  let { code, unit } = fn;
  let { constants, functions } = unit;
  let base = bases[depth - 1]!;
  let pc = next[depth - 1]!;

  for (;;) {
    try {
      for (;;) {
        const opcode = code[pc] as Dispatched;
        switch (opcode) {
          case 0: {
            // Move
            const value = stack[base + code[pc + 2]!];
            if (typeof value === 'object') share(value);
            stack[base + code[pc + 1]!] = value;
            pc += 3;
            break;
          }
          case 1: // Borrow
            stack[base + code[pc + 1]!] = stack[base + code[pc + 2]!];
            pc += 3;
            break;
          case 2: // Share
            share(stack[base + code[pc + 1]!]);
            pc += 2;
            break;
          case 3: // LoadConst
            stack[base + code[pc + 1]!] = constants[code[pc + 2]!];
            pc += 3;
            break;
          case 4: // LoadInt
            stack[base + code[pc + 1]!] = code[pc + 2]!;
            pc += 3;
            break;
          case 5: // LoadNil
            stack[base + code[pc + 1]!] = null;
            pc += 2;
            break;
          case 6: // LoadTrue
            stack[base + code[pc + 1]!] = true;
            pc += 2;
            break;
          case 7: // LoadFalse
            stack[base + code[pc + 1]!] = false;
            pc += 2;
            break;
          case 8: // LoadNone
            stack[base + code[pc + 1]!] = NONE;
            pc += 2;
            break;
          case 9: // LoadMissing
            stack[base + code[pc + 1]!] = undefined;
            pc += 2;
            break;
          case 10: // JumpIfGiven
            pc = stack[base + code[pc + 1]!] === undefined ? pc + 3 : code[pc + 2]!;
            break;
          case 11: // LoadGlobal
            stack[base + code[pc + 1]!] = share(global(vm, globals[code[pc + 2]!], code[pc + 2]!));
            pc += 3;
            break;
          case 12: // PeekGlobal
            stack[base + code[pc + 1]!] = global(vm, globals[code[pc + 2]!], code[pc + 2]!);
            pc += 3;
            break;
          case 13: // StoreGlobal
            globals[code[pc + 1]!] = stack[base + code[pc + 2]!];
            pc += 3;
            break;
          case 14: // NewCell
            stack[base + code[pc + 1]!] = { kind: 'cell', value: stack[base + code[pc + 2]!] };
            pc += 3;
            break;
          case 15: {
            // LoadCell
            const value = cellValue(stack[base + code[pc + 2]!]);
            if (typeof value === 'object') share(value);
            stack[base + code[pc + 1]!] = value;
            pc += 3;
            break;
          }
          case 16: // PeekCell
            stack[base + code[pc + 1]!] = cellValue(stack[base + code[pc + 2]!]);
            pc += 3;
            break;
          case 17: // StoreCell
            storeCell(stack[base + code[pc + 1]!], stack[base + code[pc + 2]!]);
            pc += 3;
            break;
          case 18: {
            // MakeClosure
            const target = functions[code[pc + 2]!]!;
            const at = base + code[pc + 3]!;
            stack[base + code[pc + 1]!] = { kind: 'closure', target, captures: stack.slice(at, at + target.captures) };
            pc += 4;
            break;
          }

          case 19: {
            // Add
            const a = stack[base + code[pc + 2]!];
            const b = stack[base + code[pc + 3]!];
            if (typeof a === 'number' && typeof b === 'number') {
              const sum = a + b;
              if (sum > MAX_INT || sum < -MAX_INT) overflow('+');
              stack[base + code[pc + 1]!] = sum;
            } else stack[base + code[pc + 1]!] = bounded(vm, add(a, b));
            pc += 4;
            break;
          }
          case 20: {
            // Sub
            const a = stack[base + code[pc + 2]!];
            const b = stack[base + code[pc + 3]!];
            if (typeof a === 'number' && typeof b === 'number') {
              const difference = a - b;
              if (difference > MAX_INT || difference < -MAX_INT) overflow('-');
              stack[base + code[pc + 1]!] = difference;
            } else stack[base + code[pc + 1]!] = subtract(a, b);
            pc += 4;
            break;
          }
          case 21: {
            // Mul
            const a = stack[base + code[pc + 2]!];
            const b = stack[base + code[pc + 3]!];
            if (typeof a === 'number' && typeof b === 'number') {
              const product = a * b;
              if (product > MAX_INT || product < -MAX_INT) overflow('*');
              stack[base + code[pc + 1]!] = product === 0 ? 0 : product;
            } else stack[base + code[pc + 1]!] = multiply(a, b);
            pc += 4;
            break;
          }
          case 22: // Div
            stack[base + code[pc + 1]!] = divide(stack[base + code[pc + 2]!], stack[base + code[pc + 3]!]);
            pc += 4;
            break;
          case 23: // Mod
            stack[base + code[pc + 1]!] = remainder(stack[base + code[pc + 2]!], stack[base + code[pc + 3]!]);
            pc += 4;
            break;
          case 24: // Pow
            stack[base + code[pc + 1]!] = power(stack[base + code[pc + 2]!], stack[base + code[pc + 3]!]);
            pc += 4;
            break;
          case 25: {
            // AddInt
            const a = stack[base + code[pc + 2]!];
            if (typeof a === 'number') {
              const sum = a + code[pc + 3]!;
              // A literal has no sign: a negative one is what was subtracted.
              if (sum > MAX_INT || sum < -MAX_INT) overflow(code[pc + 3]! < 0 ? '-' : '+');
              stack[base + code[pc + 1]!] = sum;
            } else stack[base + code[pc + 1]!] = add(a, code[pc + 3]!);
            pc += 4;
            break;
          }
          case 26: {
            // MulInt
            const a = stack[base + code[pc + 2]!];
            if (typeof a === 'number') {
              const product = a * code[pc + 3]!;
              if (product > MAX_INT || product < -MAX_INT) overflow('*');
              stack[base + code[pc + 1]!] = product === 0 ? 0 : product;
            } else stack[base + code[pc + 1]!] = multiply(a, code[pc + 3]!);
            pc += 4;
            break;
          }
          case 27: {
            // ModInt
            const a = stack[base + code[pc + 2]!];
            if (typeof a === 'number' && a >= 0) stack[base + code[pc + 1]!] = a % code[pc + 3]!;
            else stack[base + code[pc + 1]!] = remainder(a, code[pc + 3]!);
            pc += 4;
            break;
          }
          case 28: // Neg
            stack[base + code[pc + 1]!] = negate(stack[base + code[pc + 2]!]);
            pc += 3;
            break;
          case 29: {
            // Not
            const value = stack[base + code[pc + 2]!];
            stack[base + code[pc + 1]!] = typeof value === 'boolean' ? !value : !truthy(value);
            pc += 3;
            break;
          }
          case 30: {
            // Eq
            const a = stack[base + code[pc + 2]!];
            const b = stack[base + code[pc + 3]!];
            stack[base + code[pc + 1]!] = a === b || equal(a, b);
            pc += 4;
            break;
          }
          case 31: {
            // Ne
            const a = stack[base + code[pc + 2]!];
            const b = stack[base + code[pc + 3]!];
            stack[base + code[pc + 1]!] = a !== b && !equal(a, b);
            pc += 4;
            break;
          }
          case 32: {
            // Lt
            const a = stack[base + code[pc + 2]!];
            const b = stack[base + code[pc + 3]!];
            stack[base + code[pc + 1]!] = typeof a === 'number' && typeof b === 'number' ? a < b : less(a, b);
            pc += 4;
            break;
          }
          case 33: {
            // Le
            const a = stack[base + code[pc + 2]!];
            const b = stack[base + code[pc + 3]!];
            stack[base + code[pc + 1]!] = typeof a === 'number' && typeof b === 'number' ? a <= b : lessOrEqual(a, b);
            pc += 4;
            break;
          }

          case 34: {
            // Jump
            const target = code[pc + 1]!;
            if (target <= pc && --fuel < 0) {
              return outOfFuel(fiber, depth, pc);
            }
            pc = target;
            break;
          }
          case 35: {
            // JumpIf
            const value = stack[base + code[pc + 1]!];
            if (typeof value === 'boolean' ? value : truthy(value)) {
              const target = code[pc + 2]!;
              if (target <= pc && --fuel < 0) return outOfFuel(fiber, depth, pc);
              pc = target;
            } else pc += 3;
            break;
          }
          case 36: {
            // JumpIfNot
            const value = stack[base + code[pc + 1]!];
            if (!(typeof value === 'boolean' ? value : truthy(value))) {
              const target = code[pc + 2]!;
              if (target <= pc && --fuel < 0) return outOfFuel(fiber, depth, pc);
              pc = target;
            } else pc += 3;
            break;
          }
          case 37: {
            // JumpIfLt
            const a = stack[base + code[pc + 1]!];
            const b = stack[base + code[pc + 2]!];
            if (typeof a === 'number' && typeof b === 'number' ? a < b : less(a, b)) {
              const target = code[pc + 3]!;
              if (target <= pc && --fuel < 0) return outOfFuel(fiber, depth, pc);
              pc = target;
            } else pc += 4;
            break;
          }
          case 38: {
            // JumpIfNotLt
            const a = stack[base + code[pc + 1]!];
            const b = stack[base + code[pc + 2]!];
            if (!(typeof a === 'number' && typeof b === 'number' ? a < b : less(a, b))) {
              const target = code[pc + 3]!;
              if (target <= pc && --fuel < 0) return outOfFuel(fiber, depth, pc);
              pc = target;
            } else pc += 4;
            break;
          }
          case 39: {
            // JumpIfLe
            const a = stack[base + code[pc + 1]!];
            const b = stack[base + code[pc + 2]!];
            if (typeof a === 'number' && typeof b === 'number' ? a <= b : lessOrEqual(a, b)) {
              const target = code[pc + 3]!;
              if (target <= pc && --fuel < 0) return outOfFuel(fiber, depth, pc);
              pc = target;
            } else pc += 4;
            break;
          }
          case 40: {
            // JumpIfNotLe
            const a = stack[base + code[pc + 1]!];
            const b = stack[base + code[pc + 2]!];
            if (!(typeof a === 'number' && typeof b === 'number' ? a <= b : lessOrEqual(a, b))) {
              const target = code[pc + 3]!;
              if (target <= pc && --fuel < 0) return outOfFuel(fiber, depth, pc);
              pc = target;
            } else pc += 4;
            break;
          }
          case 41: {
            // JumpIfEq
            const a = stack[base + code[pc + 1]!];
            const b = stack[base + code[pc + 2]!];
            if (a === b || equal(a, b)) {
              const target = code[pc + 3]!;
              if (target <= pc && --fuel < 0) return outOfFuel(fiber, depth, pc);
              pc = target;
            } else pc += 4;
            break;
          }
          case 42: {
            // JumpIfNe
            const a = stack[base + code[pc + 1]!];
            const b = stack[base + code[pc + 2]!];
            if (!(a === b || equal(a, b))) {
              const target = code[pc + 3]!;
              if (target <= pc && --fuel < 0) return outOfFuel(fiber, depth, pc);
              pc = target;
            } else pc += 4;
            break;
          }
          case 43: {
            // JumpIfNotLtInt
            const a = stack[base + code[pc + 1]!];
            if (!(typeof a === 'number' ? a < code[pc + 2]! : less(a, code[pc + 2]!))) {
              const target = code[pc + 3]!;
              if (target <= pc && --fuel < 0) return outOfFuel(fiber, depth, pc);
              pc = target;
            } else pc += 4;
            break;
          }
          case 44: {
            // JumpIfNotLeInt
            const a = stack[base + code[pc + 1]!];
            if (!(typeof a === 'number' ? a <= code[pc + 2]! : lessOrEqual(a, code[pc + 2]!))) {
              const target = code[pc + 3]!;
              if (target <= pc && --fuel < 0) return outOfFuel(fiber, depth, pc);
              pc = target;
            } else pc += 4;
            break;
          }
          case 45: {
            // JumpIfNotGtInt
            const a = stack[base + code[pc + 1]!];
            if (!(typeof a === 'number' ? a > code[pc + 2]! : less(code[pc + 2]!, a))) {
              const target = code[pc + 3]!;
              if (target <= pc && --fuel < 0) return outOfFuel(fiber, depth, pc);
              pc = target;
            } else pc += 4;
            break;
          }
          case 46: {
            // JumpIfNotGeInt
            const a = stack[base + code[pc + 1]!];
            if (!(typeof a === 'number' ? a >= code[pc + 2]! : lessOrEqual(code[pc + 2]!, a))) {
              const target = code[pc + 3]!;
              if (target <= pc && --fuel < 0) return outOfFuel(fiber, depth, pc);
              pc = target;
            } else pc += 4;
            break;
          }
          case 47: {
            // JumpIfNotEqInt
            const a = stack[base + code[pc + 1]!];
            if (!(typeof a === 'number' ? a === code[pc + 2]! : equal(a, code[pc + 2]!))) {
              const target = code[pc + 3]!;
              if (target <= pc && --fuel < 0) return outOfFuel(fiber, depth, pc);
              pc = target;
            } else pc += 4;
            break;
          }
          case 48: {
            // JumpIfEqInt
            const a = stack[base + code[pc + 1]!];
            if (typeof a === 'number' ? a === code[pc + 2]! : equal(a, code[pc + 2]!)) {
              const target = code[pc + 3]!;
              if (target <= pc && --fuel < 0) return outOfFuel(fiber, depth, pc);
              pc = target;
            } else pc += 4;
            break;
          }

          case 49: {
            // ForIntBegin
            const at = base + code[pc + 1]!;
            const { start, limit } = rangeBounds(stack[at], stack[at + 1], code[pc + 2] === 1);
            stack[at] = start;
            stack[at + 1] = limit;
            pc = start < limit ? pc + 4 : code[pc + 3]!;
            break;
          }
          case 50: {
            // ForIntNext
            const at = base + code[pc + 1]!;
            const index = (stack[at] as number) + 1;
            if (index < (stack[at + 1] as number)) {
              if (--fuel < 0) {
                return outOfFuel(fiber, depth, pc);
              }
              stack[at] = index;
              pc = code[pc + 2]!;
            } else pc += 3;
            break;
          }
          case 51: // IterBegin
            stack[base + code[pc + 1]!] = iterate(stack[base + code[pc + 2]!]);
            pc += 3;
            break;
          case 52: {
            // IterNext
            const iterator = stack[base + code[pc + 2]!];
            if (typeof iterator !== 'object' || iterator === null || iterator.kind !== 'iterator')
              throw damaged('an iterator');
            if (iterator.over === 'ints') {
              if (iterator.next < iterator.end) {
                stack[base + code[pc + 1]!] = iterator.next++;
                pc += 4;
              } else pc = code[pc + 3]!;
            } else if (iterator.next < iterator.items.length) {
              const item = iterator.items[iterator.next++];
              if (typeof item === 'object') share(item);
              stack[base + code[pc + 1]!] = item;
              pc += 4;
            } else pc = code[pc + 3]!;
            break;
          }

          case 53: {
            // MakeArray
            const at = base + code[pc + 2]!;
            stack[base + code[pc + 1]!] = array(stack.slice(at, at + code[pc + 3]!));
            pc += 4;
            break;
          }
          case 54: // MakeMap
            stack[base + code[pc + 1]!] = makeMap(stack, base + code[pc + 2]!, code[pc + 3]!);
            pc += 4;
            break;
          case 55: {
            // MakeStruct
            const type: StructType = unit.structs[code[pc + 2]!]!;
            const at = base + code[pc + 3]!;
            const fields = stack.slice(at, at + type.fields.length);
            stack[base + code[pc + 1]!] = { kind: 'struct', type, fields, extra: null, shared: false };
            pc += 4;
            break;
          }
          case 56: {
            // MakeVariant
            const type = unit.enums[code[pc + 2]!]!;
            const variant = code[pc + 3]!;
            const at = base + code[pc + 4]!;
            const payload = stack.slice(at, at + type.variants[variant]!.size);
            stack[base + code[pc + 1]!] = { kind: 'enum', type, variant, payload };
            pc += 5;
            break;
          }
          case 57: // MakeRange
            stack[base + code[pc + 1]!] = makeRange(
              stack[base + code[pc + 2]!],
              stack[base + code[pc + 3]!],
              code[pc + 4] === 1,
            );
            pc += 5;
            break;
          case 58: // MakeSome
            stack[base + code[pc + 1]!] = some(stack[base + code[pc + 2]!]);
            pc += 3;
            break;
          case 59: // MakeOk
            stack[base + code[pc + 1]!] = okValue(stack[base + code[pc + 2]!]);
            pc += 3;
            break;
          case 60: // MakeErr
            stack[base + code[pc + 1]!] = errValue(stack[base + code[pc + 2]!]);
            pc += 3;
            break;
          case 61: // Concat
            stack[base + code[pc + 1]!] = bounded(vm, concat(stack, base + code[pc + 2]!, code[pc + 3]!));
            pc += 4;
            break;

          case 62: // GetField
          case 63: {
            // PeekField
            const object = stack[base + code[pc + 2]!];
            let value: Value;
            if (
              typeof object === 'object' &&
              object !== null &&
              object.kind === 'struct' &&
              object.type === fn.cacheTypes[pc]
            ) {
              value = object.fields[fn.cacheSlots[pc]!];
            } else value = getField(fn, pc, object, constants[code[pc + 3]!] as string);
            if (typeof value === 'object' && code[pc] === 62 /* GetField */) share(value);
            stack[base + code[pc + 1]!] = value;
            pc += 4;
            break;
          }
          case 64: // GetIndex
          case 65: {
            // PeekIndex
            const object = stack[base + code[pc + 2]!];
            const index = stack[base + code[pc + 3]!];
            let value: Value;
            if (
              typeof index === 'number' &&
              typeof object === 'object' &&
              object !== null &&
              object.kind === 'array' &&
              index >= 0 &&
              index < object.items.length
            ) {
              value = object.items[index];
            } else value = getIndex(object, index);
            if (typeof value === 'object' && code[pc] === 64 /* GetIndex */) share(value);
            stack[base + code[pc + 1]!] = value;
            pc += 4;
            break;
          }
          case 66: // GetItem
            stack[base + code[pc + 1]!] = share(getIndex(stack[base + code[pc + 2]!], code[pc + 3]!));
            pc += 4;
            break;
          case 67: {
            // GetRest
            const list = stack[base + code[pc + 2]!];
            if (typeof list !== 'object' || list === null || list.kind !== 'array')
              throw fault('TypeError', 'not an array');
            stack[base + code[pc + 1]!] = array(copyItems(list.items.slice(code[pc + 3]!)));
            pc += 4;
            break;
          }

          case 68: {
            // Own
            const at = base + code[pc + 1]!;
            stack[at] = ownIn(vm, stack[at]);
            pc += 2;
            break;
          }
          case 69: {
            // OwnCell
            const cell = stack[base + code[pc + 2]!];
            const owned = ownIn(vm, cellValue(cell));
            storeCell(cell, owned);
            stack[base + code[pc + 1]!] = owned;
            pc += 3;
            break;
          }
          case 70: {
            // OwnGlobal
            const slot = code[pc + 2]!;
            const owned = ownIn(vm, global(vm, globals[slot], slot));
            globals[slot] = owned;
            stack[base + code[pc + 1]!] = owned;
            pc += 3;
            break;
          }
          case 71: // OwnField
            stack[base + code[pc + 1]!] = ownField(vm, stack[base + code[pc + 2]!], constants[code[pc + 3]!] as string);
            pc += 4;
            break;
          case 72: // OwnIndex
            stack[base + code[pc + 1]!] = ownIndex(vm, stack[base + code[pc + 2]!], stack[base + code[pc + 3]!]);
            pc += 4;
            break;
          case 73: {
            // SetField
            const owner = stack[base + code[pc + 1]!];
            const value = stack[base + code[pc + 3]!];
            if (
              typeof owner === 'object' &&
              owner !== null &&
              owner.kind === 'struct' &&
              owner.type === fn.cacheTypes[pc]
            ) {
              owner.fields[fn.cacheSlots[pc]!] = value;
            } else {
              const name = constants[code[pc + 2]!] as string;
              setField(owner, name, value);
              rememberSlot(fn, pc, owner, name);
            }
            pc += 4;
            break;
          }
          case 74: {
            // SetIndex
            const owner = stack[base + code[pc + 1]!];
            const index = stack[base + code[pc + 2]!];
            if (
              typeof index === 'number' &&
              typeof owner === 'object' &&
              owner !== null &&
              owner.kind === 'array' &&
              index >= 0 &&
              index < owner.items.length
            ) {
              owner.items[index] = stack[base + code[pc + 3]!];
            } else setIndex(owner, index, stack[base + code[pc + 3]!]);
            pc += 4;
            break;
          }

          case 75: {
            // Call
            const callee: LinkedFunction = functions[code[pc + 2]!]!;
            const window = base + code[pc + 3]!;
            if (depth >= maxDepth) throw tooDeep(maxDepth);
            for (let given = code[pc + 4]!; given < callee.params; given++) stack[window + given] = undefined;
            next[depth - 1] = pc + 5;
            frames[depth] = callee;
            bases[depth] = window;
            results[depth] = code[pc + 1]!;
            depth++;
            fn = callee;
            code = fn.code;
            if (unit !== fn.unit) {
              unit = fn.unit;
              constants = unit.constants;
              functions = unit.functions;
            }
            base = window;
            pc = 0;
            if (stack.length < window + fn.registers) grow(stack, window + fn.registers);
            if (--fuel < 0) {
              return outOfFuel(fiber, depth, 0);
            }
            break;
          }
          case 76: // CallValue
          case 77: // CallBuiltin
          case 78: {
            // CallMethod
            const operand = code[pc + 2]!;
            const window = base + code[pc + 3]!;
            let count = code[pc + 4]!;
            let callee: Callee;
            if (code[pc] === 77 /* CallBuiltin */) {
              const target = unit.builtins[operand]!;
              if (target.kind === 'native' && count >= target.min && count <= target.max) {
                stack[base + code[pc + 1]!] = target.run(stack, window, count, vm);
                pc += 5;
                break;
              }
              callee = target;
            } else if (code[pc] === 78 /* CallMethod */) {
              callee = findMethod(vm, stack[window], constants[operand] as string);
              if (callee.kind === 'field') {
                // A function in a field: the receiver is no argument of it.
                callee = calleeOf(callee.value);
                stack.copyWithin(window, window + 1, window + 1 + count);
              } else count++;
            } else callee = calleeOf(stack[base + operand]);
            if (callee.kind === 'apply') {
              const args = stack[window + 1];
              callee = calleeOf(stack[window]);
              count = spread(stack, window, args);
            }
            if (callee.kind === 'bound') {
              // A callable value such as a model: it becomes the receiver.
              if (stack.length < window + count + 1) grow(stack, window + count + 1);
              stack.copyWithin(window + 1, window, window + count);
              stack[window] = callee.receiver;
              count++;
              callee = callee.target;
            }
            if (callee.kind === 'native' || callee.kind === 'request' || callee.kind === 'fiber') {
              if (count < callee.min || count > callee.max) throw badCount(callee.name, count, callee.min);
              if (callee.kind === 'native') {
                stack[base + code[pc + 1]!] = callee.run(stack, window, count, vm);
                pc += 5;
                break;
              }
              fiber.depth = depth;
              next[depth - 1] = pc + 5;
              const args = stack.slice(window, window + count);
              const stops =
                callee.kind === 'fiber'
                  ? callee.begin(vm, fiber, args)
                  : suspend(vm, fiber, callee, { args, result: base + code[pc + 1]! });
              if (stops) return { stop: 'waiting', fuel };
              pc += 5;
              break;
            }
            const target = callee.kind === 'function' ? callee.target : preludeFunction(vm, callee.name);
            if (count > target.params || (callee.kind === 'function' && count < target.required)) {
              throw badCount(target.name, count, target.params);
            }
            if (depth >= maxDepth) throw tooDeep(maxDepth);
            if (stack.length < window + target.registers + 1) grow(stack, window + target.registers + 1);
            for (; count < target.params; count++) stack[window + count] = undefined;
            if (callee.kind === 'function') {
              if (target.fitted !== null) fitArguments(vm, stack, window, target.fitted);
              const { captures } = callee;
              for (let index = 0; index < captures.length; index++)
                stack[window + target.params + index] = captures[index];
            }
            next[depth - 1] = pc + 5;
            frames[depth] = target;
            bases[depth] = window;
            results[depth] = code[pc + 1]!;
            depth++;
            fn = target;
            code = fn.code;
            unit = fn.unit;
            constants = unit.constants;
            functions = unit.functions;
            base = window;
            pc = 0;
            if (--fuel < 0) {
              return outOfFuel(fiber, depth, 0);
            }
            break;
          }
          case 79: // Return
          case 80: {
            // ReturnNil
            const value = code[pc] === 79 /* Return */ ? stack[base + code[pc + 1]!] : null;
            if (fn.mutSelf) stack[base] = cellValueOrSelf(stack[base]);
            depth--;
            if (depth === 0) {
              fiber.depth = 0;
              stack[0] = value;
              return { stop: 'finished', fuel };
            }
            fn = frames[depth - 1]!;
            code = fn.code;
            if (unit !== fn.unit) {
              unit = fn.unit;
              constants = unit.constants;
              functions = unit.functions;
            }
            base = bases[depth - 1]!;
            pc = next[depth - 1]!;
            stack[base + results[depth]!] = value;
            break;
          }

          case 81: // Raise
            throw new Fault(stack[base + code[pc + 1]!]);
          case 82: // RaiseMatch
            throw fault('MatchError', `no arm of the match fits ${display(stack[base + code[pc + 1]!])}`);
          case 83: {
            // Try
            const value = stack[base + code[pc + 2]!];
            if (typeof value === 'object' && value !== null && (value.kind === 'ok' || value.kind === 'some')) {
              stack[base + code[pc + 1]!] = share(value.value);
              pc += 4;
            } else if (isNone(value) || (typeof value === 'object' && value !== null && value.kind === 'err')) {
              stack[base + code[pc + 1]!] = value ?? NONE;
              pc = code[pc + 3]!;
            } else {
              stack[base + code[pc + 1]!] = value;
              pc += 4;
            }
            break;
          }
          case 84: {
            // NoneToErr
            const at = base + code[pc + 1]!;
            if (isNone(stack[at])) stack[at] = errValue(errorValue('RuntimeError', 'value is None'));
            pc += 2;
            break;
          }
          case 85: {
            // Coalesce
            const value = stack[base + code[pc + 2]!];
            if (isNone(value)) pc += 4;
            else {
              stack[base + code[pc + 1]!] =
                typeof value === 'object' && value !== null && value.kind === 'some'
                  ? share(value.value)
                  : share(value);
              pc = code[pc + 3]!;
            }
            break;
          }
          case 86: {
            // Cast
            const type = constants[code[pc + 3]!];
            const value = stack[base + code[pc + 2]!];
            stack[base + code[pc + 1]!] =
              typeof type === 'object' && type !== null && type.kind === 'type'
                ? share(cast(vm, value, type.type))
                : value;
            pc += 4;
            break;
          }
          case 87: {
            // ToFloat
            const value = stack[base + code[pc + 2]!];
            stack[base + code[pc + 1]!] = typeof value === 'number' ? float(value) : value;
            pc += 3;
            break;
          }
          case 88: {
            // ToOption
            const value = stack[base + code[pc + 2]!];
            const option =
              typeof value === 'object' && value !== null && (value.kind === 'some' || value.kind === 'none');
            if (option) stack[base + code[pc + 1]!] = value;
            else stack[base + code[pc + 1]!] = isNone(value) ? NONE : some(value);
            pc += 3;
            break;
          }

          case 89: {
            // JumpIfNotConst
            const value = stack[base + code[pc + 1]!];
            const expected = constants[code[pc + 2]!];
            pc = value === expected || equal(value, expected) ? pc + 4 : code[pc + 3]!;
            break;
          }
          case 90: {
            // JumpIfNotBetween
            const inside = between(
              stack[base + code[pc + 1]!],
              constants[code[pc + 2]!],
              constants[code[pc + 3]!],
              code[pc + 4] === 1,
            );
            pc = inside ? pc + 6 : code[pc + 5]!;
            break;
          }
          case 91: {
            // JumpIfNotSome
            const value = stack[base + code[pc + 1]!];
            pc = isNone(value) || isResult(value) ? code[pc + 2]! : pc + 3;
            break;
          }
          case 92: // JumpIfNotNone
            pc = isNone(stack[base + code[pc + 1]!]) ? pc + 3 : code[pc + 2]!;
            break;
          case 93: {
            // JumpIfNotOk
            pc = isOkOrBare(stack[base + code[pc + 1]!]) ? pc + 3 : code[pc + 2]!;
            break;
          }
          case 94: {
            // JumpIfNotErr
            const value = stack[base + code[pc + 1]!];
            pc = typeof value === 'object' && value !== null && value.kind === 'err' ? pc + 3 : code[pc + 2]!;
            break;
          }
          case 95: // Unwrap
            stack[base + code[pc + 1]!] = unwrap(stack[base + code[pc + 2]!]);
            pc += 3;
            break;
          case 96: {
            // JumpIfNotVariant
            const value = stack[base + code[pc + 1]!];
            const fits =
              typeof value === 'object' &&
              value !== null &&
              value.kind === 'enum' &&
              value.variant === code[pc + 3] &&
              value.type === unit.enums[code[pc + 2]!];
            pc = fits ? pc + 5 : code[pc + 4]!;
            break;
          }
          case 97: {
            // Payload
            const value = stack[base + code[pc + 2]!];
            if (typeof value !== 'object' || value === null || value.kind !== 'enum')
              throw fault('TypeError', 'not an enum');
            stack[base + code[pc + 1]!] = share(value.payload[code[pc + 3]!]);
            pc += 4;
            break;
          }
          case 98: // JumpIfNotStruct
            pc = isStructOf(stack[base + code[pc + 1]!], unit.structs[code[pc + 2]!]!) ? pc + 4 : code[pc + 3]!;
            break;
          case 99: {
            // JumpIfNotType
            const type = constants[code[pc + 2]!];
            const name = typeof type === 'object' && type !== null && type.kind === 'type' ? catchName(type) : 'Any';
            pc = hasType(stack[base + code[pc + 1]!], name) ? pc + 4 : code[pc + 3]!;
            break;
          }
          case 100: {
            // JumpIfNotLength
            const value = stack[base + code[pc + 1]!];
            const length =
              typeof value === 'object' && value !== null && value.kind === 'array' ? value.items.length : -1;
            const wanted = code[pc + 2]!;
            pc = (code[pc + 3] === 1 ? length >= wanted : length === wanted) ? pc + 5 : code[pc + 4]!;
            break;
          }

          case 101: // AwaitAll
          case 102: // AwaitEach
          case 103: // Race
          case 104: {
            // Deadline
            const start = groupStart(code, pc, stack, base);
            fiber.depth = depth;
            next[depth - 1] = pc + 4;
            if (beginGroup(vm, fiber, start)) return { stop: 'waiting', fuel };
            pc += 4;
            break;
          }
          case 105: {
            // ListenBegin
            const target = preludeFunction(vm, '$listen');
            const window = base + code[pc + 3]!;
            const listen = unit.listens[code[pc + 2]!]!;
            if (depth >= maxDepth) throw tooDeep(maxDepth);
            if (stack.length < window + target.registers) grow(stack, window + target.registers);
            const first = window + 2;
            const handlers = array(stack.slice(first, first + listen.handlers.length));
            stack[window + 2] = unit.listens.indexOf(listen);
            stack[window + 3] = handlers;
            next[depth - 1] = pc + 4;
            frames[depth] = target;
            bases[depth] = window;
            results[depth] = code[pc + 1]!;
            depth++;
            fn = target;
            code = fn.code;
            unit = fn.unit;
            constants = unit.constants;
            functions = unit.functions;
            base = window;
            pc = 0;
            break;
          }
          case 107: {
            // Fit
            const type = constants[code[pc + 3]!];
            const value = stack[base + code[pc + 2]!];
            stack[base + code[pc + 1]!] =
              typeof type === 'object' && type !== null && type.kind === 'type' ? fit(vm, value, type.type) : value;
            pc += 4;
            break;
          }
          case 106: {
            // ListenBreak
            const caller = depth > 1 ? frames[depth - 2]! : fn;
            if (!callsHandlers(vm, caller)) throw fault('RuntimeError', '`break` outside a handler of `listen`');
            const value = stack[base + code[pc + 1]!];
            depth--;
            fn = caller;
            code = fn.code;
            unit = fn.unit;
            constants = unit.constants;
            functions = unit.functions;
            base = bases[depth - 1]!;
            pc = next[depth - 1]!;
            stack[base + results[depth]!] = value;
            // The caller's mark that its handler did not just answer.
            stack[base + results[depth]! + 1] = true;
            break;
          }
          default:
            opcode satisfies never;
            throw new Error(`opcode ${code[pc]} at ${pc} of ${fn.name}`);
        }
      }
    } catch (cause) {
      fiber.depth = depth;
      next[depth - 1] = pc + 1;
      const error = faultValue(cause);
      if (!unwind(fiber, error)) {
        stack[0] = error;
        return { stop: 'failed', fuel };
      }
      leaveFrames(vm, fiber, fiber.depth, depth);
      depth = fiber.depth;
      fn = frames[depth - 1]!;
      code = fn.code;
      unit = fn.unit;
      constants = unit.constants;
      functions = unit.functions;
      base = bases[depth - 1]!;
      pc = next[depth - 1]!;
    }
  }
}

/** Goes on at `pc` the next time. */
function outOfFuel(fiber: Fiber, depth: number, pc: number): { stop: Stop; fuel: number } {
  fiber.depth = depth;
  fiber.next[depth - 1] = pc;
  return { stop: 'out of fuel', fuel: 0 };
}

function global(vm: Vm, value: Value, slot: number): Value {
  if (value !== undefined) return value;
  const name = vm.program.module.globals[slot]?.name ?? 'a variable';
  throw fault('RuntimeError', `'${name}' is used before it has a value`, { kind: 'uninitialised' });
}

function cellValue(cell: Value): Value {
  if (typeof cell === 'object' && cell !== null && cell.kind === 'cell') return cell.value;
  throw damaged('a cell');
}

function cellValueOrSelf(value: Value): Value {
  return typeof value === 'object' && value !== null && value.kind === 'cell' ? value.value : value;
}

function storeCell(cell: Value, value: Value): void {
  if (typeof cell !== 'object' || cell === null || cell.kind !== 'cell') throw damaged('a cell');
  cell.value = value;
}

function rememberSlot(fn: LinkedFunction, pc: number, owner: Value, name: string): void {
  if (typeof owner !== 'object' || owner === null || owner.kind !== 'struct') return;
  const slot = owner.type.slots.get(name);
  if (slot === undefined) return;
  fn.cacheTypes[pc] = owner.type;
  fn.cacheSlots[pc] = slot;
}

/** The validator knows registers, not what they hold: only a program no compiler wrote comes here. */
function damaged(expected: string): Error {
  return fault('TypeError', `the compiled program is damaged: a register does not hold ${expected}`);
}

function tooDeep(limit: number): Error {
  return fault('LimitError', `recursion deeper than ${limit} calls, the limit \`depth\``, { kind: 'recursion' });
}

function badCount(name: string, count: number, expected: number): Error {
  return fault('TypeError', `${name} takes ${expected} arguments, ${count} given`, { kind: 'arguments' });
}

/** The functions of the prelude that call the handlers of a `listen`. */
function callsHandlers({ program: { prelude } }: Vm, fn: LinkedFunction): boolean {
  return fn === prelude.get('$listen') || fn === prelude.get('$listen_beside');
}

function preludeFunction(vm: Vm, name: string): LinkedFunction {
  return vm.program.prelude.get(name)!;
}

/** The stack never has holes: an array with holes is read more slowly ever after. */
function grow(stack: Value[], length: number): void {
  while (stack.length < length + 64) stack.push(undefined);
}

/** Puts the elements of a list into a window. */
function spread(stack: Value[], window: number, args: Value): number {
  if (typeof args !== 'object' || args === null || args.kind !== 'array') throw damaged('a list of arguments');
  if (stack.length < window + args.items.length + 1) grow(stack, window + args.items.length + 1);
  args.items.forEach((item, index) => {
    stack[window + index] = item;
  });
  return args.items.length;
}

function bounded(vm: Vm, value: Value): Value {
  if (typeof value === 'string' && value.length > vm.limits.size) {
    throw fault('LimitError', `a string longer than ${vm.limits.size}, the limit \`size\``, { kind: 'size' });
  }
  if (typeof value === 'object' && value !== null && value.kind === 'array') {
    if (value.items.length > vm.limits.size) {
      throw fault('LimitError', `a collection of more than ${vm.limits.size} elements, the limit \`size\``, {
        kind: 'size',
      });
    }
    accountSlots(vm, value.items.length);
  }
  return value;
}

function between(value: Value, low: Value, high: Value, inclusive: boolean): boolean {
  if (low !== null && !((compare(low, value) ?? 1) <= 0)) return false;
  if (high === null) return typeName(value) === typeName(low) || low === null;
  const order = compare(value, high) ?? 1;
  return inclusive ? order <= 0 : order < 0;
}

function catchName(type: Extract<Value, { kind: 'type' }>): string {
  return type.type.kind === 'name' ? type.type.name : type.text;
}

function groupStart(code: Int32Array, pc: number, stack: readonly Value[], base: number): GroupStart {
  const [opcode, dst, a, b] = [code[pc]!, code[pc + 1]!, code[pc + 2]!, code[pc + 3]!];
  const result = base + dst;
  switch (opcode) {
    case 101: // AwaitAll
      return { mode: 'all', closures: stack.slice(base + a, base + a + b), limit: Math.max(1, b), ms: null, result };
    case 103: // Race
      return { mode: 'race', closures: stack.slice(base + a, base + a + b), limit: Math.max(1, b), ms: null, result };
    case 104: // Deadline
      return { mode: 'deadline', closures: [stack[base + a]], limit: 1, ms: stack[base + b], result };
    default: {
      const list = stack[base + a];
      const limit = stack[base + b];
      const closures = typeof list === 'object' && list !== null && list.kind === 'array' ? [...list.items] : [];
      return {
        mode: 'all',
        closures,
        limit: typeof limit === 'number' && limit > 0 ? limit : PARALLEL_LIMIT,
        ms: null,
        result,
      };
    }
  }
}
