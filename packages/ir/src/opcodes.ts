/**
 * The instruction set. A register machine: every function has a fixed number of registers, its code is one flat list of
 * integers (opcode, operands, opcode, operands, …). The opcode's number is its place in this table.
 *
 * Calling convention. A call names the first register of a window; the callee's register 0 is that very register. So
 * arguments are never copied: registers 0 … params-1 are the arguments, then the captured values of a closure, then
 * locals and temporaries. A missing argument is `missing`: `JumpIfGiven` in the callee's prologue skips the default.
 * The window must lie above every register the caller still needs. After a call of a `mutSelf` function (or a mutating
 * built-in method) the first register of the window holds the receiver as the method left it: write it back with
 * `SetField`, `SetIndex`, `StoreCell`, `StoreGlobal` or `Borrow`.
 *
 * Value semantics. Containers (array, map, struct, enum payload, set, queue, stack) are shared by reference with a
 * "shared" mark; a place operation copies a marked container before it changes it. `Move`, `LoadCell`, `LoadGlobal`,
 * `GetField`, `GetIndex`, `GetItem`, `Unwrap`, `Payload` mark what they copy. `Borrow` and the `Peek…` forms do not: use
 * them only for a register that is read and then forgotten: the receiver or an argument of a call, the inner steps of a
 * path (`a.b[i].c`), an operand. Operands called `take` keep the value: never pass the register of a variable there, but a
 * temporary (made by `Move`, or a fresh value). Arguments are borrowed: a function that changes a parameter through a
 * place, or captures it in a cell, starts with `Share p`; one that returns a parameter moves it to a temporary first.
 * A variable that lives in a cell or a global is passed by `LoadCell` / `LoadGlobal`, never by the `Peek…` form, except as
 * the receiver of a built-in or `mut self` method.
 *
 * Places. `a.b[i].c = v` is `Own a; OwnField t a b; OwnIndex u t i; SetField u c v`. The root of a path may be a register
 * (`Own`), a cell (`OwnCell`) or a global (`OwnGlobal`). A mutating method on a place: own the parents, `PeekField` the last
 * step into the window, call, write the window's first register back.
 *
 * Closures. A captured variable that is assigned anywhere lives in a cell (`NewCell` where it is declared, so a loop body
 * makes a fresh one in each iteration); other captured variables are captured by value. `MakeClosure` takes the captured
 * values from consecutive registers; in the body they are the registers after the parameters.
 *
 * Errors. Each function has a table `handlers` of `[start, end, target, register]` (instruction offsets, `end` exclusive),
 * inner ones first. A fault inside the range puts the error value into `register`, true into `register + 1`, and goes on
 * at `target`. `throw` and `?` inside a `try` of the same function put false into `register + 1` and jump there themselves;
 * outside they return. At the end of the catch clauses an unmatched error is raised again (`Raise`) when `register + 1` is
 * true, and returned as `Err` when it is false.
 *
 * Fibers. Calling an async function is an ordinary call. `AwaitAll` runs closures without parameters at the same time.
 *
 * Effects. `CallBuiltin` and `CallMethod` of a row marked as effect suspend the fiber until the world answers.
 */

/**
 * What an operand is. `to` register written; `from` register read; `take` register whose value is kept; `both` register
 * read and written; `first` first register of a window whose length another operand or table gives; the rest index the
 * tables of the module.
 */
export type OperandKind =
  | 'to'
  | 'from'
  | 'take'
  | 'both'
  | 'first'
  | 'count'
  | 'int'
  | 'flag'
  | 'const'
  | 'name'
  | 'type'
  | 'function'
  | 'global'
  | 'builtin'
  | 'struct'
  | 'enum'
  | 'variant'
  | 'listen'
  | 'jump';

export interface OpcodeSpec {
  /** Each operand as `kind name`. */
  readonly operands: readonly `${OperandKind} ${string}`[];
  readonly does: string;
}

export const OPCODES = {
  // Values
  Move: { operands: ['to dst', 'from src'], does: 'dst = src, marked as shared' },
  Borrow: { operands: ['to dst', 'from src'], does: 'dst = src, not marked' },
  Share: { operands: ['from src'], does: 'marks the container in src as shared' },
  LoadConst: { operands: ['to dst', 'const value'], does: 'dst = constant' },
  LoadInt: { operands: ['to dst', 'int value'], does: 'dst = a small Int' },
  LoadNil: { operands: ['to dst'], does: 'dst = nil' },
  LoadTrue: { operands: ['to dst'], does: 'dst = true' },
  LoadFalse: { operands: ['to dst'], does: 'dst = false' },
  LoadNone: { operands: ['to dst'], does: 'dst = None' },
  LoadMissing: { operands: ['to dst'], does: 'dst = the mark of an argument that was not given' },
  JumpIfGiven: { operands: ['from value', 'jump target'], does: 'jumps when the argument was given' },

  // Module variables and cells
  LoadGlobal: {
    operands: ['to dst', 'global slot'],
    does: 'dst = module variable, marked; a fault before its initialiser ran',
  },
  PeekGlobal: { operands: ['to dst', 'global slot'], does: 'as LoadGlobal, not marked' },
  StoreGlobal: { operands: ['global slot', 'take value'], does: 'module variable = value' },
  NewCell: { operands: ['to dst', 'take value'], does: 'dst = a new cell that holds value' },
  LoadCell: { operands: ['to dst', 'from cell'], does: 'dst = value in the cell, marked' },
  PeekCell: { operands: ['to dst', 'from cell'], does: 'as LoadCell, not marked' },
  StoreCell: { operands: ['from cell', 'take value'], does: 'value in the cell = value' },
  MakeClosure: {
    operands: ['to dst', 'function target', 'first captures'],
    does: 'dst = closure over the registers from captures on; their number is in the function',
  },

  // Arithmetic and comparison
  Add: { operands: ['to dst', 'from a', 'from b'], does: 'dst = a + b; joins display forms when one is a String' },
  Sub: { operands: ['to dst', 'from a', 'from b'], does: 'dst = a - b' },
  Mul: { operands: ['to dst', 'from a', 'from b'], does: 'dst = a * b' },
  Div: { operands: ['to dst', 'from a', 'from b'], does: 'dst = a / b; Int division truncates' },
  Mod: { operands: ['to dst', 'from a', 'from b'], does: 'dst = a % b; the sign of a' },
  Pow: { operands: ['to dst', 'from a', 'from b'], does: 'dst = a ** b' },
  AddInt: { operands: ['to dst', 'from a', 'int b'], does: 'dst = a + b for a small literal (also for subtraction)' },
  MulInt: { operands: ['to dst', 'from a', 'int b'], does: 'dst = a * b for a small literal' },
  ModInt: { operands: ['to dst', 'from a', 'int b'], does: 'dst = a % b for a small literal that is not 0' },
  Neg: { operands: ['to dst', 'from a'], does: 'dst = -a' },
  Not: { operands: ['to dst', 'from a'], does: 'dst = a is falsy' },
  Eq: { operands: ['to dst', 'from a', 'from b'], does: 'dst = a == b' },
  Ne: { operands: ['to dst', 'from a', 'from b'], does: 'dst = a != b' },
  Lt: { operands: ['to dst', 'from a', 'from b'], does: 'dst = a < b' },
  Le: { operands: ['to dst', 'from a', 'from b'], does: 'dst = a <= b' },

  // Jumps
  Jump: { operands: ['jump target'], does: 'goes on at target' },
  JumpIf: { operands: ['from test', 'jump target'], does: 'jumps when test is truthy' },
  JumpIfNot: { operands: ['from test', 'jump target'], does: 'jumps when test is falsy' },
  JumpIfLt: { operands: ['from a', 'from b', 'jump target'], does: 'jumps when a < b' },
  JumpIfNotLt: { operands: ['from a', 'from b', 'jump target'], does: 'jumps unless a < b' },
  JumpIfLe: { operands: ['from a', 'from b', 'jump target'], does: 'jumps when a <= b' },
  JumpIfNotLe: { operands: ['from a', 'from b', 'jump target'], does: 'jumps unless a <= b' },
  JumpIfEq: { operands: ['from a', 'from b', 'jump target'], does: 'jumps when a == b' },
  JumpIfNe: { operands: ['from a', 'from b', 'jump target'], does: 'jumps unless a == b' },
  JumpIfNotLtInt: { operands: ['from a', 'int b', 'jump target'], does: 'jumps unless a < b' },
  JumpIfNotLeInt: { operands: ['from a', 'int b', 'jump target'], does: 'jumps unless a <= b' },
  JumpIfNotGtInt: { operands: ['from a', 'int b', 'jump target'], does: 'jumps unless a > b' },
  JumpIfNotGeInt: { operands: ['from a', 'int b', 'jump target'], does: 'jumps unless a >= b' },
  JumpIfNotEqInt: { operands: ['from a', 'int b', 'jump target'], does: 'jumps unless a == b' },
  JumpIfEqInt: { operands: ['from a', 'int b', 'jump target'], does: 'jumps when a == b' },

  // Loops
  ForIntBegin: {
    operands: ['first loop', 'flag inclusive', 'jump exit'],
    does: 'loop = start, loop+1 = end of a range (nil: open); checks both, jumps to exit when it is empty. loop is the loop variable and must not be written by the body',
  },
  ForIntNext: { operands: ['first loop', 'jump body'], does: 'loop += 1; jumps to body while it is inside' },
  IterBegin: { operands: ['to dst', 'from iterable'], does: 'dst = iterator over the value iterable has now' },
  IterNext: { operands: ['to dst', 'from iterator', 'jump exit'], does: 'dst = next element, or jumps to exit' },

  // Building values
  MakeArray: { operands: ['to dst', 'first items', 'count length'], does: 'dst = array or tuple of the window' },
  MakeMap: { operands: ['to dst', 'first items', 'count pairs'], does: 'dst = map of key, value, key, value …' },
  MakeStruct: { operands: ['to dst', 'struct type', 'first fields'], does: 'dst = struct; fields in declared order' },
  MakeVariant: {
    operands: ['to dst', 'enum type', 'variant index', 'first payload'],
    does: 'dst = enum value; payload in declared order',
  },
  MakeRange: {
    operands: ['to dst', 'from start', 'from end', 'flag inclusive'],
    does: 'dst = range; nil for an open end',
  },
  MakeSome: { operands: ['to dst', 'take value'], does: 'dst = Some(value)' },
  MakeOk: { operands: ['to dst', 'take value'], does: 'dst = Ok(value)' },
  MakeErr: { operands: ['to dst', 'take value'], does: 'dst = Err(value)' },
  Concat: { operands: ['to dst', 'first parts', 'count parts'], does: 'dst = display forms joined (interpolation)' },

  // Reading parts
  GetField: { operands: ['to dst', 'from object', 'name field'], does: 'dst = object.field, marked' },
  PeekField: { operands: ['to dst', 'from object', 'name field'], does: 'as GetField, not marked' },
  GetIndex: { operands: ['to dst', 'from object', 'from index'], does: 'dst = object[index], marked; a range slices' },
  PeekIndex: { operands: ['to dst', 'from object', 'from index'], does: 'as GetIndex, not marked' },
  GetItem: { operands: ['to dst', 'from object', 'int index'], does: 'dst = element of a tuple or array, marked' },
  GetRest: { operands: ['to dst', 'from array', 'int start'], does: 'dst = the array from start on' },

  // Writing through places
  Own: { operands: ['both place'], does: 'makes the container in the register unshared' },
  OwnCell: { operands: ['to dst', 'from cell'], does: 'dst = the unshared container in the cell' },
  OwnGlobal: { operands: ['to dst', 'global slot'], does: 'dst = the unshared container in the module variable' },
  OwnField: { operands: ['to dst', 'from owner', 'name field'], does: 'dst = the unshared container in owner.field' },
  OwnIndex: { operands: ['to dst', 'from owner', 'from index'], does: 'dst = the unshared container in owner[index]' },
  SetField: { operands: ['from owner', 'name field', 'take value'], does: 'owner.field = value; owner is unshared' },
  SetIndex: { operands: ['from owner', 'from index', 'take value'], does: 'owner[index] = value; owner is unshared' },

  // Calls
  Call: {
    operands: ['to dst', 'function target', 'first args', 'count args'],
    does: 'dst = target(args); missing trailing arguments are marked as missing',
  },
  CallValue: { operands: ['to dst', 'from callee', 'first args', 'count args'], does: 'dst = callee(args)' },
  CallBuiltin: {
    operands: ['to dst', 'builtin target', 'first args', 'count args'],
    does: 'dst = builtin(args); for a method row (`Array.push`) the receiver is the first argument',
  },
  CallMethod: {
    operands: ['to dst', 'name method', 'first receiver', 'count args'],
    does: 'dst = method found by the run-time type of the receiver (window: receiver, then args; count without the receiver): methods of the type, then built-in ones, then a field that holds a function. Type arguments of `m<T>()` come first, as type constants',
  },
  Return: { operands: ['take value'], does: 'leaves the function with value' },
  ReturnNil: { operands: [], does: 'leaves the function with nil' },

  // Errors, Option, Result
  Raise: { operands: ['take error'], does: 'raises error as a fault, to the nearest handler up the stack' },
  RaiseMatch: { operands: ['from value'], does: 'raises MatchError: no pattern fits value' },
  Try: {
    operands: ['to dst', 'from value', 'jump failed'],
    does: 'Ok(v), Some(v): dst = v. Err, None: dst = value itself and jumps to failed',
  },
  NoneToErr: { operands: ['both value'], does: 'value None becomes Err(RuntimeError "value is None"); others stay' },
  Coalesce: {
    operands: ['to dst', 'from value', 'jump present'],
    does: 'value nil or None: goes on; else dst = value (out of its Some) and jumps to present',
  },
  Cast: { operands: ['to dst', 'from value', 'type target'], does: 'dst = value as target; CastError' },
  ToFloat: { operands: ['to dst', 'from value'], does: 'dst = value, an Int made a Float (coercion)' },
  ToOption: {
    operands: ['to dst', 'take value'],
    does: 'dst = value when it is an Option, None for nil, else Some(value)',
  },

  // Patterns: each jumps when the value does not fit
  JumpIfNotConst: { operands: ['from value', 'const expected', 'jump target'], does: 'value == constant, same kind' },
  JumpIfNotBetween: {
    operands: ['from value', 'const low', 'const high', 'flag inclusive', 'jump target'],
    does: 'low <= value < high (<= high when inclusive); a nil constant is open',
  },
  JumpIfNotSome: {
    operands: ['from value', 'jump target'],
    does: 'Some, or a bare value that is neither nil nor a Result',
  },
  JumpIfNotNone: { operands: ['from value', 'jump target'], does: 'None or nil' },
  JumpIfNotOk: {
    operands: ['from value', 'jump target'],
    does: 'Ok, or a bare value that is neither nil nor an Option',
  },
  JumpIfNotErr: { operands: ['from value', 'jump target'], does: 'Err' },
  Unwrap: { operands: ['to dst', 'from value'], does: 'dst = inside of Some, Ok, Err (marked); a bare value stays' },
  JumpIfNotVariant: {
    operands: ['from value', 'enum type', 'variant index', 'jump target'],
    does: 'value is that variant',
  },
  Payload: { operands: ['to dst', 'from value', 'int index'], does: 'dst = part of an enum value, marked' },
  JumpIfNotStruct: { operands: ['from value', 'struct type', 'jump target'], does: 'value is a struct of that type' },
  JumpIfNotType: {
    operands: ['from value', 'type expected', 'jump target'],
    does: 'value has that type: struct, schema, enum or variant name, primitive, or `Error` for every error',
  },
  JumpIfNotLength: {
    operands: ['from value', 'int length', 'flag atLeast', 'jump target'],
    does: 'value is an array of that length (or at least that long)',
  },

  // Concurrency
  AwaitAll: {
    operands: ['to dst', 'first closures', 'count closures'],
    does: 'runs the closures at the same time; dst = array of their values; a fault in one ends the others',
  },
  AwaitEach: {
    operands: ['to dst', 'from closures', 'from limit'],
    does: 'the same for an array of closures (parallel for); at most limit at once, nil for the default',
  },
  Race: {
    operands: ['to dst', 'first closures', 'count closures'],
    does: 'runs the closures at the same time; dst = value of the first to end, the others are cancelled',
  },
  Deadline: {
    operands: ['to dst', 'from closure', 'from milliseconds'],
    does: 'dst = closure(), or TimeoutError after so many milliseconds',
  },

  // Agents
  ListenBegin: {
    operands: ['to dst', 'listen table', 'first window'],
    does: 'window: agent or builder, prompt, one closure for each handler of the listen table; dst = Ok(payload) or Err(AgentError)',
  },
  ListenBreak: {
    operands: ['take value'],
    does: 'leaves a handler of a listen, which ends the session and gives Ok(value); a fault in any other function',
  },

  // Of values nobody knew the type of
  Fit: {
    operands: ['to dst', 'from value', 'type target'],
    does: 'dst = value as a place of that type holds it, inside too: an Int as a Float, nil as None, a bare value as Some; what has another form stays',
  },
} as const satisfies Record<string, OpcodeSpec>;

export type OpcodeName = keyof typeof OPCODES;

/** One instruction by name, for builders, the disassembler and tests. */
export type Instruction = {
  [Name in OpcodeName]: readonly [Name, ...OperandNumbers<(typeof OPCODES)[Name]['operands']>];
}[OpcodeName];

type OperandNumbers<Operands extends readonly string[]> = { [Index in keyof Operands]: number };

export const OPCODE_NAMES: readonly OpcodeName[] = Object.keys(OPCODES).filter((name): name is OpcodeName =>
  Object.hasOwn(OPCODES, name),
);

const numbers = new Map<string, number>(OPCODE_NAMES.map((name, index) => [name, index]));

/** The number of an opcode. */
export function opcode(name: OpcodeName): number {
  return numbers.get(name) ?? -1;
}

export interface Operand {
  readonly kind: OperandKind;
  readonly name: string;
}

const KINDS: readonly OperandKind[] = [
  'to',
  'from',
  'take',
  'both',
  'first',
  'count',
  'int',
  'flag',
  'const',
  'name',
  'type',
  'function',
  'global',
  'builtin',
  'struct',
  'enum',
  'variant',
  'listen',
  'jump',
];

/** The operands of each opcode, by number. */
export const OPERANDS: readonly (readonly Operand[])[] = OPCODE_NAMES.map((name) =>
  OPCODES[name].operands.flatMap((text) => {
    const kind = KINDS.find((candidate) => text.startsWith(`${candidate} `));
    return kind === undefined ? [] : [{ kind, name: text.slice(kind.length + 1) }];
  }),
);
