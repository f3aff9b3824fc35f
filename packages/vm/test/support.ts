import { Assembler, checkModule, emptyModule, type Instruction, type IrModule, type Label } from '@concerto/ir';
import type { Answer, Effect, Request } from '../src/effects.ts';
import type { Vm } from '../src/machine.ts';
import { restore } from '../src/restore.ts';
import { snapshot } from '../src/snapshot.ts';
import type { Value } from '../src/value.ts';
import { createVm, type RunStatus, resume, run, type VmOptions } from '../src/vm.ts';

/** Builds small modules for tests: functions as lists of instructions, tables filled on demand. */
export class ProgramBuilder {
  readonly module: IrModule = emptyModule('test');

  /** Adds a function; its index. `main` is the entry. */
  fn(
    name: string,
    shape: { params?: number; registers?: number; captures?: number; mutSelf?: boolean },
    body: (f: FunctionBuilder) => void,
  ): number {
    const assembler = new Assembler();
    body(new FunctionBuilder(assembler, this));
    const index = this.module.functions.length;
    this.module.functions.push({
      name,
      params: Array.from({ length: shape.params ?? 0 }, (_, param) => ({ name: `p${param}` })),
      captures: shape.captures ?? 0,
      registers: shape.registers ?? 16,
      ...(shape.mutSelf === true ? { mutSelf: true } : {}),
      ...assembler.finish(),
    });
    if (name === 'main') this.module.main = index;
    return index;
  }

  constant(constant: IrModule['constants'][number]): number {
    const text = JSON.stringify(constant);
    const known = this.module.constants.findIndex((candidate) => JSON.stringify(candidate) === text);
    return known >= 0 ? known : this.module.constants.push(constant) - 1;
  }

  builtin(name: string): number {
    const known = this.module.builtins.indexOf(name);
    return known >= 0 ? known : this.module.builtins.push(name) - 1;
  }

  global(name: string): number {
    return this.module.globals.push({ name }) - 1;
  }

  /** The module, checked as if it had come from a file. */
  build(): IrModule {
    const checked = checkModule(JSON.parse(JSON.stringify(this.module)));
    if (!checked.ok) throw new Error(checked.error);
    return checked.value;
  }
}

export class FunctionBuilder {
  readonly #assembler: Assembler;
  readonly #program: ProgramBuilder;

  constructor(assembler: Assembler, program: ProgramBuilder) {
    this.#assembler = assembler;
    this.#program = program;
  }

  emit(...instruction: Instruction): void {
    this.#assembler.emit(...instruction);
  }
  label(): Label {
    return this.#assembler.label();
  }
  place(label: Label): void {
    this.#assembler.place(label);
  }
  line(line: number): void {
    this.#assembler.position(line, 1);
  }
  handler(start: Label, end: Label, target: Label, register: number): void {
    this.#assembler.handler(start, end, target, register);
  }
  string(register: number, value: string): void {
    this.emit('LoadConst', register, this.#program.constant({ kind: 'string', value }));
  }
  constant(register: number, constant: IrModule['constants'][number]): void {
    this.emit('LoadConst', register, this.#program.constant(constant));
  }
  name(value: string): number {
    return this.#program.constant({ kind: 'string', value });
  }
  builtin(dst: number, name: string, window: number, count: number): void {
    this.emit('CallBuiltin', dst, this.#program.builtin(name), window, count);
  }
  /** emit(channel, register): uses the two registers from `window` on. */
  tell(channel: string, register: number, window: number): void {
    this.emit('Move', window + 1, register);
    this.string(window, channel);
    this.builtin(window, 'emit', window, 2);
  }
}

export type World = (request: Request & { readonly id: number }) => Answer | undefined;

export interface Ran {
  readonly status: RunStatus;
  readonly effects: readonly Effect[];
}

export interface RunOptions extends Partial<VmOptions> {
  readonly world?: World;
  /** Steps in one go. */
  readonly budget?: number;
  /** Write the state down and read it back whenever the VM stops. */
  readonly interrupt?: boolean;
  /** Before the first step. */
  readonly prepare?: (vm: Vm) => void;
}

/** Runs to the end; the world answers each request at once. */
export function execute(module: IrModule, options: RunOptions = {}): Ran {
  let vm = createVm(module, { entry: 'main', ...options });
  options.prepare?.(vm);
  const effects: Effect[] = [];
  for (let turn = 0; turn < 1_000_000; turn++) {
    const ran = run(vm, options.budget ?? 100_000);
    effects.push(...ran.effects);
    if (ran.status === 'done' || ran.status === 'failed') return { status: ran, effects };
    if (options.interrupt === true) vm = restore(module, JSON.parse(JSON.stringify(snapshot(vm))));
    if (ran.status === 'running') continue;
    let answered = false;
    for (const effect of ran.effects) {
      if (!('id' in effect) || effect.kind === 'cancel') continue;
      const answer = options.world?.(effect);
      if (answer !== undefined && resume(vm, effect.id, answer)) answered = true;
    }
    if (!answered) return { status: ran, effects };
  }
  throw new Error('the program does not end');
}

/** The value a program ended with; a failure is thrown. */
export function valueOf(ran: Ran): Value {
  if (ran.status.status === 'done') return ran.status.value;
  throw new Error(ran.status.status === 'failed' ? ran.status.failure.message : `still ${ran.status.status}`);
}
