import { assert } from '@concerto/base';
import { Assembler, type Instruction, type IrFunction, type Label } from '@concerto/ir';
import type { FunctionFacts, Local } from '../check/facts.ts';
import { positionAt, type SourceFile } from '../source/source-file.ts';
import type { Span } from '../source/span.ts';
import type { ModuleBuilder } from './module-builder.ts';

/** Where a variable of the function lives. */
export type Storage = { readonly kind: 'register' | 'cell'; readonly register: number };

export interface LoopTarget {
  readonly label: string | undefined;
  /** Register of the loop's value; undefined when nobody reads it. */
  readonly result: number | undefined;
  readonly end: Label;
  readonly next: Label;
}

/** A `try` of this function around the current instruction: where thrown errors go, and the register pair they use. */
export interface TryTarget {
  readonly register: number;
  readonly target: Label;
}

export interface FrameOptions {
  readonly name: string;
  readonly file: string;
  /** What `throw` and `?` do outside every `try`. */
  readonly failure: FunctionFacts['failure'];
}

/** A variable that is captured and changes is shared through a cell; every other one is copied. */
export function livesInCell(local: Local): boolean {
  return local.captured && local.mutated;
}

/** The function under construction: code, registers as a stack, variables, loops and tries around the current place. */
export class Frame {
  readonly builder: ModuleBuilder;
  readonly options: FrameOptions;
  readonly assembler = new Assembler();
  readonly loops: LoopTarget[] = [];
  readonly tries: TryTarget[] = [];
  /** Where each chain `a?.b` around the current place goes on when there is no `a`. */
  readonly chains: Label[] = [];
  /** Variables of the or-pattern under construction that its first alternative has already placed. */
  readonly alternatives = new Set<Local>();
  /** Set in a `mut self` function whose self lives in a cell: it goes back to register 0 before every return. */
  selfCell: number | undefined;
  readonly #storage = new Map<Local, Storage>();
  readonly #deferred: (() => void)[] = [];
  readonly #parameters = new Set<number>();
  #next = 0;
  #highest = 0;
  #lastOffset = -1;
  #isForeign = false;
  readonly #source: SourceFile;

  constructor(builder: ModuleBuilder, options: FrameOptions) {
    this.builder = builder;
    this.options = options;
    this.#source = builder.source(options.file);
  }

  get facts() {
    return this.builder.facts;
  }

  get name(): string {
    return this.options.name;
  }

  // Registers

  reserve(count = 1): number {
    const first = this.#next;
    this.#next += count;
    this.#highest = Math.max(this.#highest, this.#next);
    return first;
  }

  /** Registers taken inside `work` are free again after it. */
  scoped<T>(work: () => T): T {
    const mark = this.#next;
    const result = work();
    this.#next = mark;
    return result;
  }

  // Variables

  bind(local: Local, storage: Storage): void {
    this.#storage.set(local, storage);
  }

  bindParameter(local: Local, register: number): void {
    this.#parameters.add(register);
    this.#storage.set(local, { kind: 'register', register });
  }

  has(local: Local): boolean {
    return this.#storage.has(local);
  }

  storage(local: Local): Storage {
    const storage = this.#storage.get(local);
    assert(storage !== undefined, 'a variable is known where it is used');
    return storage;
  }

  /** Holds an argument or captured value, which belongs to the caller. */
  isBorrowed(register: number): boolean {
    return this.#parameters.has(register);
  }

  // Code

  emit(...instruction: Instruction): void {
    this.assembler.emit(...instruction);
  }

  label(): Label {
    return this.assembler.label();
  }

  place(label: Label): void {
    this.assembler.place(label);
  }

  jump(target: Label): void {
    this.assembler.emit('Jump', target);
  }

  /** The next instructions come from there. */
  at(node: { readonly span: Span }): void {
    const offset = node.span.start;
    if (this.#isForeign || offset === this.#lastOffset) return;
    this.#lastOffset = offset;
    const { line, column } = positionAt(this.#source, offset);
    this.assembler.position(line, column);
  }

  /** Code that was written elsewhere, such as the default of a field: its places mean nothing in this file. */
  foreign(code: () => void): void {
    const before = this.#isForeign;
    this.#isForeign = true;
    code();
    this.#isForeign = before;
  }

  /** Code for the rare way out, placed after the function's end. */
  defer(code: () => void): void {
    this.#deferred.push(code);
  }

  finish(): Pick<IrFunction, 'registers' | 'code' | 'handlers' | 'positions'> {
    for (let code = this.#deferred.shift(); code !== undefined; code = this.#deferred.shift()) code();
    return { registers: this.#highest, ...this.assembler.finish() };
  }
}
