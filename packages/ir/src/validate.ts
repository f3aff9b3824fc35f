import { isBuiltin } from './builtins.ts';
import type { IrConstant, IrFunction, IrModule } from './module.ts';
import { OPCODE_NAMES, OPERANDS, type OpcodeName, type OperandKind } from './opcodes.ts';
import { parseType } from './signature.ts';

/** How many registers one function may have; the VM's stack is sized by it. */
const MAX_REGISTERS = 1 << 16;

/**
 * Only these count a turn of a loop, so that a program can be stopped. Nothing else may jump back: patterns, iterators and
 * handlers only lead forward.
 */
const BACKWARD: readonly string[] = [
  'Jump',
  'ForIntNext',
  'JumpIf',
  'JumpIfNot',
  'JumpIfLt',
  'JumpIfNotLt',
  'JumpIfLe',
  'JumpIfNotLe',
  'JumpIfEq',
  'JumpIfNe',
  'JumpIfNotLtInt',
  'JumpIfNotLeInt',
  'JumpIfNotGtInt',
  'JumpIfNotGeInt',
  'JumpIfNotEqInt',
  'JumpIfEqInt',
] satisfies OpcodeName[];

/** The first thing in the module that would make the VM read or jump outside; undefined when there is none. */
export function validateModule(module: IrModule): string | undefined {
  for (const problem of tableProblems(module)) return problem;
  for (const [index, fn] of module.functions.entries()) {
    const problem = functionProblem(module, fn);
    if (problem !== undefined) return `function ${index} (${fn.name}): ${problem}`;
  }
  return undefined;
}

function* tableProblems(module: IrModule): Generator<string> {
  const functions = module.functions.length;
  const bad = (index: number | undefined): boolean => index !== undefined && index >= functions;
  if (bad(module.init)) yield 'init: no such function';
  if (bad(module.main)) yield 'main: no such function';
  for (const test of module.tests) if (bad(test.function)) yield `test "${test.description}": no such function`;
  for (const [type, table] of Object.entries(module.methods)) {
    for (const [method, index] of Object.entries(table)) if (bad(index)) yield `${type}.${method}: no such function`;
  }
  for (const pipeline of module.pipelines) {
    for (const stage of pipeline.stages)
      if (bad(stage.function)) yield `${pipeline.name}.${stage.name}: no such function`;
  }
  for (const tool of module.tools) {
    if (tool.struct >= module.structs.length) yield `tool ${tool.name}: no such struct`;
    if (tool.global >= module.globals.length) yield `tool ${tool.name}: no such module variable`;
    for (const method of tool.methods) if (bad(method.function)) yield `${tool.name}.${method.name}: no such function`;
  }
  for (const name of module.builtins) if (!isBuiltin(name)) yield `there is no built-in called ${name}`;
  for (const constant of module.constants) {
    if (constant.kind === 'function' && bad(constant.index)) yield 'constant: no such function';
    const problem = constantProblem(module, constant);
    if (problem !== undefined) yield problem;
  }
  yield* typeProblems(module);
}

/** A constant that names something must find it: the VM takes it for granted. */
function constantProblem(module: IrModule, constant: IrConstant): string | undefined {
  const declared = (names: readonly { readonly name: string }[], name: string): string | undefined =>
    names.some((candidate) => candidate.name === name)
      ? undefined
      : `constant: there is no ${constant.kind} called ${name}`;
  switch (constant.kind) {
    case 'builtin':
      return isBuiltin(constant.name) ? undefined : `there is no built-in called ${constant.name}`;
    case 'type':
      return unreadable(constant.value) ? `constant: ${constant.value} is not a type` : undefined;
    case 'model':
      return declared(module.models, constant.name);
    case 'agent':
      return declared(module.agents, constant.name);
    case 'pipeline':
      return declared(module.pipelines, constant.name);
    case 'mcp':
      return declared(module.mcp, constant.name);
    case 'hashmap':
      return declared(module.hashmaps, constant.name);
    case 'ledger':
      return declared(module.ledgers, constant.name);
    case 'memory':
      return declared(module.memories, constant.name);
    default:
      return undefined;
  }
}

/** Types that values from outside are checked against must be readable before the program runs. */
function* typeProblems(module: IrModule): Generator<string> {
  for (const struct of module.structs) {
    for (const field of struct.fields)
      if (unreadable(field.type)) yield `${struct.name}.${field.name}: bad type ${field.type}`;
  }
  for (const type of module.enums) {
    for (const variant of type.variants) {
      for (const part of variant.types ?? [])
        if (unreadable(part)) yield `${type.name}::${variant.name}: bad type ${part}`;
    }
  }
  for (const fn of module.functions) {
    for (const { name, type } of fn.params)
      if (type !== undefined && unreadable(type)) yield `${fn.name}: parameter ${name}: bad type ${type}`;
  }
  for (const listen of module.listens) {
    for (const { type } of listen.handlers)
      if (type !== undefined && unreadable(type)) yield `${listen.name}: bad type ${type}`;
    if (listen.result !== undefined && unreadable(listen.result)) yield `${listen.name}: bad type ${listen.result}`;
  }
  for (const [alias, type] of Object.entries(module.aliases)) if (unreadable(type)) yield `${alias}: bad type ${type}`;
}

function unreadable(type: string): boolean {
  try {
    parseType(type);
    return false;
  } catch {
    return true;
  }
}

function functionProblem(module: IrModule, fn: IrFunction): string | undefined {
  if (fn.registers > MAX_REGISTERS) return `needs ${fn.registers} registers, at most ${MAX_REGISTERS}`;
  if (fn.params.length + fn.captures > fn.registers) return 'has fewer registers than parameters and captures';
  const starts = new Set<number>();
  const jumps: { at: number; target: number }[] = [];
  for (let at = 0; at < fn.code.length; ) {
    starts.add(at);
    const opcode = fn.code[at] ?? -1;
    const name = OPCODE_NAMES[opcode];
    const operands = OPERANDS[opcode];
    if (name === undefined || operands === undefined) return `unknown opcode ${opcode} at ${at}`;
    if (at + operands.length >= fn.code.length) return `${name} at ${at} is cut off`;
    const values = fn.code.slice(at + 1, at + 1 + operands.length);
    for (const [position, operand] of operands.entries()) {
      const value = values[position] ?? -1;
      if (operand.kind === 'jump') {
        if (value <= at && !BACKWARD.includes(name))
          return `${name} at ${at} jumps back; only ${BACKWARD.join(' and ')} may`;
        jumps.push({ at, target: value });
      }
      if (operand.kind !== 'jump' && !operandFits(module, fn, operand.kind, value))
        return `${name} at ${at}: ${operand.name} ${value} is out of range`;
    }
    const problem = windowProblem(module, fn, name, values);
    if (problem !== undefined) return `${name} at ${at}: ${problem}`;
    at += 1 + operands.length;
  }
  for (const { at, target } of jumps)
    if (!starts.has(target)) return `jump at ${at} to ${target}, where no instruction starts`;
  for (const handler of fn.handlers) {
    if (!starts.has(handler.target)) return `handler at ${handler.target}, where no instruction starts`;
    if (handler.start > handler.end || handler.end > fn.code.length) return 'handler range is out of the code';
    if (handler.target < handler.end) return 'a handler lies before the end of what it protects';
    if (handler.register + 1 >= fn.registers) return 'handler register is out of range';
  }
  return endProblem(fn);
}

/** Running off the end would read nothing as an opcode. */
function endProblem(fn: IrFunction): string | undefined {
  let last = '';
  for (let at = 0; at < fn.code.length; ) {
    const opcode = fn.code[at] ?? 0;
    last = OPCODE_NAMES[opcode] ?? '';
    at += 1 + (OPERANDS[opcode]?.length ?? 0);
  }
  return ['Return', 'ReturnNil', 'Jump', 'Raise', 'RaiseMatch', 'ListenBreak'].includes(last)
    ? undefined
    : 'the code runs off its end';
}

function operandFits(module: IrModule, fn: IrFunction, kind: OperandKind, value: number): boolean {
  const within = (length: number): boolean => value >= 0 && value < length;
  switch (kind) {
    case 'to':
    case 'from':
    case 'take':
    case 'both':
      return within(fn.registers);
    case 'first':
      return within(fn.registers + 1);
    case 'count':
      return value >= 0;
    case 'int':
      return Number.isInteger(value) && Math.abs(value) <= 0x7fffffff;
    case 'flag':
      return value === 0 || value === 1;
    case 'const':
      return within(module.constants.length);
    case 'name':
      return module.constants[value]?.kind === 'string';
    case 'type':
      return module.constants[value]?.kind === 'type';
    case 'function':
      return within(module.functions.length);
    case 'global':
      return within(module.globals.length);
    case 'builtin':
      return within(module.builtins.length);
    case 'struct':
      return within(module.structs.length);
    case 'enum':
      return within(module.enums.length);
    case 'variant':
      return value >= 0;
    case 'listen':
      return within(module.listens.length);
    case 'jump':
      return within(fn.code.length);
  }
}

/** A window must end inside the caller's registers: the callee's own registers begin where it starts. */
function windowProblem(module: IrModule, fn: IrFunction, name: string, values: readonly number[]): string | undefined {
  const [a = 0, b = 0, c = 0, d = 0] = values;
  const reach = (first: number, length: number): string | undefined =>
    first + length > fn.registers ? `the window ${first}…${first + length - 1} is out of range` : undefined;
  switch (name) {
    case 'MakeArray':
    case 'Concat':
    case 'AwaitAll':
    case 'Race':
      return reach(b, c);
    case 'MakeMap':
      return reach(b, 2 * c);
    case 'MakeStruct':
      return reach(c, module.structs[b]?.fields.length ?? 0);
    case 'MakeVariant': {
      const variant = module.enums[b]?.variants[c];
      return variant === undefined ? 'no such variant' : reach(d, variant.size);
    }
    case 'JumpIfNotVariant':
      return module.enums[b]?.variants[c] === undefined ? 'no such variant' : undefined;
    case 'MakeClosure':
      return reach(c, module.functions[b]?.captures ?? 0);
    case 'Call': {
      const callee = module.functions[b];
      if (callee !== undefined && d > callee.params.length)
        return `${d} arguments for ${callee.params.length} parameters`;
      return reach(c, d);
    }
    case 'CallValue':
    case 'CallBuiltin':
      return reach(c, d);
    case 'CallMethod':
      return reach(c, d + 1);
    case 'ForIntBegin':
    case 'ForIntNext':
      return reach(a, 2);
    case 'ListenBegin':
      return reach(c, 2 + (module.listens[b]?.handlers.length ?? 0));
    default:
      return undefined;
  }
}
