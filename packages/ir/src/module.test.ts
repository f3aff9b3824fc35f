import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Assembler } from './assemble.ts';
import { disassemble } from './disassemble.ts';
import { checkModule, emptyModule, formatModule, type IrModule, parseModule } from './module.ts';
import { type Instruction, OPCODE_NAMES, OPERANDS, opcode } from './opcodes.ts';

/** A module with one function `main` of four registers. */
function program(...instructions: Instruction[]): IrModule {
  const assembler = new Assembler();
  for (const instruction of instructions) assembler.emit(...instruction);
  const module = emptyModule('test');
  module.constants.push({ kind: 'string', value: 'text' }, { kind: 'int', value: 1 }, { kind: 'type', value: 'Int' });
  module.functions.push({ name: 'main', params: [], captures: 0, registers: 4, ...assembler.finish() });
  module.main = 0;
  return module;
}

/** The same, but the code given as it stands. */
function raw(code: number[]): IrModule {
  const module = program(['ReturnNil']);
  const [main] = module.functions;
  if (main !== undefined) main.code = code;
  return module;
}

const problem = (module: unknown): string => {
  const result = checkModule(module);
  return result.ok ? 'fine' : result.error;
};

describe('a module file', () => {
  test('comes back as it was written', () => {
    const module = program(['LoadInt', 0, 7], ['Return', 0]);
    expect(parseModule(formatModule(module))).toEqual({ ok: true, value: module });
  });

  test('text that is no module is refused with a reason', () => {
    expect(parseModule('{')).toMatchObject({ ok: false, error: expect.stringContaining('not a compiled program') });
    expect(parseModule('{"x": 1}')).toMatchObject({ ok: false, error: expect.stringContaining('header') });
    expect(parseModule('[1]')).toMatchObject({ ok: false });
  });

  test('another version is named', () => {
    expect(problem({ ...program(['ReturnNil']), version: 99 })).toContain('99');
  });

  test('a missing or unknown table is named', () => {
    const { functions: _, ...rest } = program(['ReturnNil']);
    expect(problem(rest)).toContain('functions');
    expect(problem({ ...program(['ReturnNil']), surprise: [] })).toContain('damaged');
  });
});

describe('the validator', () => {
  test.each<[string, IrModule, string]>([
    ['a register beyond the frame', program(['LoadNil', 4], ['ReturnNil']), 'dst 4'],
    ['a constant that is not there', program(['LoadConst', 0, 3], ['ReturnNil']), 'value 3'],
    ['a name that is no string', program(['GetField', 0, 1, 1], ['ReturnNil']), 'field 1'],
    ['a type that is no type', program(['Cast', 0, 1, 0], ['ReturnNil']), 'target 0'],
    ['a function that is not there', program(['Call', 0, 5, 1, 0], ['ReturnNil']), 'target 5'],
    ['a window that leaves the frame', program(['MakeArray', 0, 2, 3], ['ReturnNil']), 'window'],
    ['a call window that leaves the frame', program(['CallMethod', 0, 0, 3, 1], ['ReturnNil']), 'window'],
    ['too many arguments', program(['Call', 0, 0, 0, 1], ['ReturnNil']), '1 arguments for 0'],
    ['a flag that is no flag', program(['MakeRange', 0, 1, 2, 2], ['ReturnNil']), 'inclusive 2'],
    ['code without an end', program(['LoadNil', 0]), 'runs off'],
    ['no code at all', raw([]), 'runs off'],
    ['an unknown opcode', raw([999]), 'unknown opcode 999'],
    ['an instruction that is cut off', raw([opcode('LoadInt'), 0]), 'cut off'],
    ['a jump into an instruction', raw([opcode('Jump'), 1]), 'no instruction starts'],
    ['a jump outside', raw([opcode('Jump'), 44]), 'no instruction starts'],
  ])('refuses %s', (_, module, text) => {
    expect(problem(module)).toContain(text);
    expect(problem(module)).toContain('main');
  });

  test('refuses a handler outside the code', () => {
    const module = program(['ReturnNil']);
    module.functions[0]?.handlers.push({ start: 0, end: 9, target: 0, register: 0 });
    expect(problem(module)).toContain('handler');
  });

  test('refuses tables that name functions which are not there', () => {
    const module = program(['ReturnNil']);
    expect(problem({ ...module, main: 3 })).toContain('main');
    expect(problem({ ...module, tests: [{ description: 'adds', function: 9 }] })).toContain('adds');
    expect(problem({ ...module, methods: { Point: { norm: 9 } } })).toContain('Point.norm');
  });

  test('refuses names that nothing has, and types that cannot be read', () => {
    const module = program(['ReturnNil']);
    expect(problem({ ...module, builtins: ['fly'] })).toContain('fly');
    expect(problem({ ...module, constants: [...module.constants, { kind: 'model', name: 'M' }] })).toContain(
      'no model called M',
    );
    expect(problem({ ...module, constants: [{ kind: 'type', value: 'Array<' }] })).toContain('not a type');
    const struct = { name: 'P', kind: 'struct', fields: [{ name: 'x', type: '<' }] };
    expect(problem({ ...module, structs: [struct] })).toContain('P.x');
    const variant = { name: 'V', size: 1, types: ['Option<'] };
    expect(problem({ ...module, enums: [{ name: 'E', variants: [variant] }] })).toContain('E::V: bad type');
    const [main] = module.functions;
    const withParameter = { ...main, params: [{ name: 'x', type: 'Array<Float' }] };
    expect(problem({ ...module, functions: [withParameter] })).toContain('parameter x: bad type');
  });

  test('random code never gets through with an operand outside, and never throws', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -2, max: OPCODE_NAMES.length + 2 }), { maxLength: 40 }), (code) => {
        const module = raw(code);
        if (problem(module) !== 'fine') return;
        for (let at = 0; at < code.length; ) {
          const operands = OPERANDS[code[at] ?? -1];
          expect(operands).toBeDefined();
          at += 1 + (operands?.length ?? 0);
          expect(at).toBeLessThanOrEqual(code.length);
        }
      }),
    );
  });
});

describe('the assembler', () => {
  test('resolves labels forwards and backwards', () => {
    const assembler = new Assembler();
    const [start, end] = [assembler.label(), assembler.label()];
    assembler.place(start);
    assembler.emit('JumpIfNot', 0, end);
    assembler.emit('Jump', start);
    assembler.place(end);
    assembler.emit('ReturnNil');
    expect(assembler.finish().code).toEqual([opcode('JumpIfNot'), 0, 5, opcode('Jump'), 0, opcode('ReturnNil')]);
  });

  test('a label that is never placed is a mistake', () => {
    const assembler = new Assembler();
    assembler.emit('Jump', assembler.label());
    expect(() => assembler.finish()).toThrow('label');
  });

  test('positions are kept once per place', () => {
    const assembler = new Assembler();
    assembler.position(1, 1);
    assembler.position(2, 5);
    assembler.emit('LoadNil', 0);
    assembler.position(2, 5);
    assembler.emit('ReturnNil');
    expect(assembler.finish().positions).toEqual([0, 2, 5]);
  });
});

describe('disassemble', () => {
  test('shows every instruction with names instead of numbers', () => {
    const module = program(['LoadConst', 0, 0], ['GetField', 1, 0, 0], ['Return', 1]);
    const text = disassemble(module);
    expect(text).toContain('function 0 main()');
    expect(text).toMatch(/LoadConst\s+r0 "text"/);
    expect(text).toMatch(/GetField\s+r1 r0 "text"/);
    expect(text).toMatch(/Return\s+r1/);
  });

  test('shows which handlers run beside their listen', () => {
    const module = program(['ReturnNil']);
    const handlers = [
      { keys: ['question', 'approval'], params: 1, parallel: true },
      { keys: ['_'], params: 0 },
    ];
    const text = disassemble({ ...module, listens: [{ name: '$listen_0', method: 'execute', handlers }] });
    expect(text).toContain('listens: $listen_0 {question|approval (parallel), _}');
  });
});
