import { assert } from '@concerto/base';
import { type Instruction, OPERANDS, opcode } from './opcodes.ts';

/** A place in code that is not there yet. Pass it where a `jump` operand is expected. */
export type Label = number;

export interface Handler {
  readonly start: number;
  readonly end: number;
  readonly target: number;
  readonly register: number;
}

export interface Code {
  readonly code: number[];
  readonly handlers: Handler[];
  /** Flat: offset, line, column, offset, line, column … ascending offsets. */
  readonly positions: number[];
}

/** Collects the code of one function: `emit`, `label`, `place`, and at the end `finish`. */
export class Assembler {
  readonly #code: number[] = [];
  readonly #positions: number[] = [];
  readonly #handlers: { start: Label; end: Label; target: Label; register: number }[] = [];
  readonly #labels: number[] = [];
  readonly #patches: { at: number; label: number }[] = [];

  get offset(): number {
    return this.#code.length;
  }

  label(): Label {
    this.#labels.push(-1);
    return -this.#labels.length;
  }

  place(label: Label): void {
    assert(this.#labels[-label - 1] === -1, 'a label is placed once');
    this.#labels[-label - 1] = this.#code.length;
  }

  emit(...instruction: Instruction): void {
    const number = opcode(instruction[0]);
    const kinds = OPERANDS[number] ?? [];
    assert(instruction.length === kinds.length + 1, 'an instruction has the operands of its opcode');
    this.#code.push(number);
    // A list of the operands alone would be made for every instruction.
    for (let index = 0; index < kinds.length; index++) {
      const operand = Number(instruction[index + 1]);
      if (kinds[index]?.kind === 'jump') this.#patches.push({ at: this.#code.length, label: operand });
      this.#code.push(operand);
    }
  }

  /** Says which line the next instructions come from. */
  position(line: number, column: number): void {
    const last = this.#positions.length - 3;
    if (last >= 0 && this.#positions[last + 1] === line && this.#positions[last + 2] === column) return;
    if (last >= 0 && this.#positions[last] === this.#code.length) this.#positions.length = last;
    this.#positions.push(this.#code.length, line, column);
  }

  /** Protects a range. Add inner ranges before outer ones: the first that fits wins. */
  handler(start: Label, end: Label, target: Label, register: number): void {
    this.#handlers.push({ start, end, target, register });
  }

  finish(): Code {
    for (const { at, label } of this.#patches) this.#code[at] = this.#resolve(label);
    const handlers = this.#handlers.map(({ start, end, target, register }) => ({
      start: this.#resolve(start),
      end: this.#resolve(end),
      target: this.#resolve(target),
      register,
    }));
    return { code: this.#code, handlers, positions: this.#positions };
  }

  #resolve(label: number): number {
    const offset = this.#labels[-label - 1];
    assert(offset !== undefined && offset >= 0, 'every label is placed');
    return offset;
  }
}
