import {
  BUILTIN_NAMES,
  emptyModule,
  type IrModule,
  OPCODE_NAMES,
  OPERANDS,
  type OperandKind,
  opcode,
  validateModule,
} from '@concerto/ir';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { restore } from '../src/restore.ts';
import { snapshot } from '../src/snapshot.ts';
import { createVm, resume, run } from '../src/vm.ts';

const REGISTERS = 12;

/** Tables for every kind of operand, so that anything random code names is there. */
function tables(): IrModule {
  const module = emptyModule('random');
  module.constants.push(
    { kind: 'string', value: 'name' },
    { kind: 'type', value: 'Note' },
    { kind: 'nil' },
    { kind: 'int', value: 3 },
    { kind: 'float', value: 0.5 },
    { kind: 'bool', value: true },
    { kind: 'function', index: 0 },
    { kind: 'builtin', name: 'len' },
    { kind: 'model', name: 'M' },
    { kind: 'agent', name: 'A' },
    { kind: 'pipeline', name: 'P' },
    { kind: 'hashmap', name: 'h' },
    { kind: 'ledger', name: 'l' },
    { kind: 'memory', name: 'm' },
  );
  module.builtins.push(...BUILTIN_NAMES);
  module.globals.push({ name: 'g' }, { name: 'k' });
  module.structs.push({ name: 'Note', kind: 'schema', fields: [{ name: 'name', type: 'Int' }] });
  module.enums.push({
    name: 'E',
    variants: [
      { name: 'A', size: 0 },
      { name: 'B', size: 2 },
    ],
  });
  module.models.push({ name: 'M', connection: 'c', config: {}, tools: [], decorators: [] });
  module.agents.push({ name: 'A', connector: 'a', config: {}, decorators: [] });
  module.pipelines.push({ name: 'P', stages: [{ name: 's', form: 'chained', function: 0, decorators: [] }] });
  module.hashmaps.push({ name: 'h', key: 'Any', value: 'Any' });
  module.ledgers.push({ name: 'l' });
  module.memories.push({ name: 'm' });
  module.listens.push({ name: '$listen_0', method: 'execute', handlers: [{ keys: ['_'], params: 1 }] });
  return module;
}

/** How many choices an operand of this kind has in `tables`. */
const RANGE: Readonly<Record<OperandKind, number>> = {
  to: REGISTERS,
  from: REGISTERS,
  take: REGISTERS,
  both: REGISTERS,
  first: REGISTERS - 6,
  count: 4,
  int: 5,
  flag: 2,
  const: 14,
  name: 1,
  type: 1,
  function: 2,
  global: 2,
  builtin: BUILTIN_NAMES.length,
  struct: 1,
  enum: 1,
  variant: 2,
  listen: 1,
  jump: 0,
};

/** Builds a function out of random numbers; jumps go to instruction starts, the end is a return. */
function assemble(numbers: readonly number[]): number[] {
  const code: number[] = [];
  const starts: number[] = [];
  const jumps: { at: number; after: number; choice: number }[] = [];
  let next = 0;
  const take = (): number => numbers[next++] ?? 0;
  while (next < numbers.length) {
    const number = take() % OPCODE_NAMES.length;
    starts.push(code.length);
    code.push(number);
    for (const { kind } of OPERANDS[number] ?? []) {
      if (kind === 'jump')
        jumps.push({ at: code.length, after: number === opcode('Jump') ? 0 : starts.length, choice: take() });
      if (kind === 'jump') code.push(0);
      else code.push(kind === 'type' ? 1 : take() % RANGE[kind]);
    }
  }
  starts.push(code.length);
  code.push(opcode('ReturnNil'));
  // Only plain jumps may lead back.
  for (const { at, after, choice } of jumps) code[at] = starts[after + (choice % (starts.length - after))] ?? 0;
  return code;
}

/** Found once: thousands of fibers, each in another, the innermost of which fails. */
const fibersInFibers: [number[], number[], []] = [[1944, 2005, 0, 0, 104, 0, 913, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0], []];

/** Found once: a model whose answer is no table. */
const oddAnswer: [number[], number[], never[][]] = [
  [4069, 2662, 484, 0, 0, 0, 3179, 0, 3058, 0],
  [0, 0, 0, 0, 0],
  [[]],
];

describe('random code', () => {
  test('that the validator accepts runs to an end or waits; nothing else is thrown, not even after a move', () => {
    let accepted = 0;
    const bytes = fc.array(fc.nat(5000), { minLength: 5, maxLength: 120 });
    fc.assert(
      fc.property(bytes, bytes, fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 6 }), (main, other, answers) => {
        const module = tables();
        for (const [name, numbers] of [
          ['main', main],
          ['other', other],
        ] as const) {
          const params = name === 'main' ? [] : [{ name: 'p' }];
          const handlers = name === 'main' ? [] : [];
          module.functions.push({
            name,
            params,
            captures: 0,
            registers: REGISTERS,
            code: assemble(numbers),
            handlers,
            positions: [],
          });
        }
        module.main = 0;
        if (validateModule(module) !== undefined) return;
        accepted++;
        let vm = createVm(module, { entry: 'main', limits: { depth: 50, size: 10_000, steps: 5000 } });
        for (const answer of answers) {
          const { status, effects } = run(vm, 1000);
          if (status === 'done' || status === 'failed') return;
          vm = restore(module, JSON.parse(JSON.stringify(snapshot(vm))));
          for (const effect of effects) {
            if (!('id' in effect) || effect.kind === 'cancel') continue;
            const value = JSON.parse(JSON.stringify(answer));
            resume(vm, effect.id, effect.id % 3 === 0 ? { ok: false, error: { message: 'no' } } : { ok: true, value });
          }
        }
        expect(['waiting', 'running', 'done', 'failed']).toContain(run(vm, 1000).status);
      }),
      { numRuns: Number(process.env['RANDOM_CODE_RUNS'] ?? 2000), examples: [fibersInFibers, oddAnswer] },
    );
    expect(accepted).toBeGreaterThan(200);
  });
});
