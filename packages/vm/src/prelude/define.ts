import { Assembler, emptyModule, type Instruction, type IrModule, type Label } from '@concerto/ir';

/** Collects the functions of the prelude: built-ins that call back into the program, written in instructions. */
export class PreludeBuilder {
  readonly module: IrModule = emptyModule('$prelude');
  readonly #names = new Map<string, number>();
  readonly #builtins = new Map<string, number>();

  /** Adds a function. `registers` counts all; a call's window must lie above what is still needed. */
  define(
    name: string,
    shape: { readonly params: number; readonly registers: number; readonly captures?: number },
    body: (f: Body) => void,
  ): void {
    const assembler = new Assembler();
    body(new Body(assembler, this));
    const { code, handlers, positions } = assembler.finish();
    this.#names.set(name, this.module.functions.length);
    this.module.functions.push({
      name,
      params: Array.from({ length: shape.params }, (_, index) => ({ name: `p${index}` })),
      captures: shape.captures ?? 0,
      registers: shape.registers,
      code,
      handlers,
      positions,
    });
  }

  string(value: string): number {
    const known = this.module.constants.findIndex((constant) => constant.kind === 'string' && constant.value === value);
    if (known >= 0) return known;
    return this.module.constants.push({ kind: 'string', value }) - 1;
  }

  builtin(name: string): number {
    const known = this.#builtins.get(name);
    if (known !== undefined) return known;
    const index = this.module.builtins.push(name) - 1;
    this.#builtins.set(name, index);
    return index;
  }

  /** A function defined before. */
  function(name: string): number {
    return this.#names.get(name) ?? -1;
  }
}

/** The body of one prelude function. */
export class Body {
  readonly #assembler: Assembler;
  readonly #prelude: PreludeBuilder;

  constructor(assembler: Assembler, prelude: PreludeBuilder) {
    this.#assembler = assembler;
    this.#prelude = prelude;
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

  handler(start: Label, end: Label, target: Label, register: number): void {
    this.#assembler.handler(start, end, target, register);
  }

  string(register: number, value: string): void {
    this.emit('LoadConst', register, this.#prelude.string(value));
  }

  /** dst = name(window…). */
  builtin(dst: number, name: string, window: number, count: number): void {
    this.emit('CallBuiltin', dst, this.#prelude.builtin(name), window, count);
  }

  call(dst: number, name: string, window: number, count: number): void {
    this.emit('Call', dst, this.#prelude.function(name), window, count);
  }

  closure(dst: number, name: string, captures: number): void {
    this.emit('MakeClosure', dst, this.#prelude.function(name), captures);
  }
}
