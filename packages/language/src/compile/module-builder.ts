import { assert } from '@concerto/base';
import { BUILTIN_STRUCTS, emptyModule, type IrConstant, type IrFunction, type IrModule } from '@concerto/ir';
import type { DeclaredType, Facts, FunctionRef, ModuleVariable, ResourceRef } from '../check/facts.ts';
import type { TypeCon } from '../check/types.ts';
import type { Program } from '../modules/program.ts';
import { lineNumberAt, type SourceFile } from '../source/source-file.ts';
import type { Expression } from '../syntax/expression.ts';
import type { NodeId } from '../syntax/node.ts';
import type { Frame } from './frame.ts';

/** How an expression becomes code; handed in so that the files for its kinds need not know each other. */
export interface Evaluator {
  value(frame: Frame, expression: Expression, dst: number): void;
  effect(frame: Frame, expression: Expression): void;
}

/** Tables of the module under construction: constants and names once each, functions and types by what they stand for. */
export class ModuleBuilder {
  readonly module: IrModule;
  readonly facts: Facts;
  readonly program: Program;
  readonly evaluator: Evaluator;
  readonly #constants = new Map<string, number>();
  readonly #texts = new Map<string, number>();
  readonly #builtins = new Map<string, number>();
  readonly #functions = new Map<NodeId, number>();
  readonly #globals = new Map<string, number>();
  readonly #structs = new Map<string, number>();
  readonly #enums = new Map<string, number>();
  readonly #typeNames = new Map<string, string>();
  readonly #resourceNames = new Map<string, string>();
  readonly #files = new Map<string, number>();
  readonly #types = new Map<string, DeclaredType>();
  readonly #adapters = new Map<string, number>();

  constructor(name: string, program: Program, facts: Facts, evaluator: Evaluator) {
    this.module = emptyModule(name);
    this.program = program;
    this.facts = facts;
    this.evaluator = evaluator;
    for (const path of program.files.keys()) {
      this.#files.set(path, this.module.files.length);
      this.module.files.push(path);
    }
    shortNames(facts.declaredTypes, this.#typeNames, new Set(Object.keys(BUILTIN_STRUCTS)));
    shortNames(facts.resources, this.#resourceNames, new Set());
    for (const type of facts.declaredTypes) this.#types.set(type.path, type);
  }

  constant(value: IrConstant): number {
    const key = constantKey(value);
    const known = this.#constants.get(key);
    if (known !== undefined) return known;
    const index = this.module.constants.push(value) - 1;
    this.#constants.set(key, index);
    return index;
  }

  text(value: string): number {
    const known = this.#texts.get(value);
    if (known !== undefined) return known;
    const index = this.constant({ kind: 'string', value });
    this.#texts.set(value, index);
    return index;
  }

  type(text: string): number {
    return this.constant({ kind: 'type', value: text });
  }

  builtin(name: string): number {
    const known = this.#builtins.get(name);
    if (known !== undefined) return known;
    const index = this.module.builtins.push(name) - 1;
    this.#builtins.set(name, index);
    return index;
  }

  /** A place in the function table, filled by `setFunction`: a call may be compiled before its callee. */
  reserveFunction(): number {
    return this.module.functions.push(PLACEHOLDER) - 1;
  }

  setFunction(index: number, value: IrFunction): void {
    this.module.functions[index] = value;
  }

  declareFunction(ref: FunctionRef): void {
    if (!this.#functions.has(ref.item.id)) this.#functions.set(ref.item.id, this.reserveFunction());
  }

  functionIndex(ref: FunctionRef): number {
    const index = this.#functions.get(ref.item.id);
    assert(index !== undefined, 'a function is declared before it is called');
    return index;
  }

  knownFunction(item: NodeId): number | undefined {
    return this.#functions.get(item);
  }

  /** Small functions the compiler makes up, one for each key. */
  adapter(key: string, build: () => number): number {
    const known = this.#adapters.get(key);
    if (known !== undefined) return known;
    const index = build();
    this.#adapters.set(key, index);
    return index;
  }

  global(path: string): number {
    const known = this.#globals.get(path);
    if (known !== undefined) return known;
    const index = this.module.globals.push({ name: path }) - 1;
    this.#globals.set(path, index);
    return index;
  }

  variable(variable: ModuleVariable): number {
    return this.global(variable.path);
  }

  /** The variable that holds a tool's one instance. */
  toolGlobal(resource: ResourceRef): number {
    return this.global(this.resourceName(resource));
  }

  registerStruct(path: string, index: number): void {
    this.#structs.set(path, index);
  }

  registerEnum(path: string, index: number): void {
    this.#enums.set(path, index);
  }

  struct(path: string): number {
    const index = this.#structs.get(path);
    assert(index !== undefined, 'a struct is declared before it is used');
    return index;
  }

  enum(path: string): number {
    const index = this.#enums.get(path);
    assert(index !== undefined, 'an enum is declared before it is used');
    return index;
  }

  declaredType(path: string): DeclaredType | undefined {
    return this.#types.get(path);
  }

  /** The name a declared type has at run time: short unless two modules have one of that name. */
  typeName(con: Pick<TypeCon, 'path' | 'name'>): string {
    return this.#typeNames.get(con.path) ?? this.#resourceNames.get(con.path) ?? con.name;
  }

  /** The same for whatever has methods: a type, a resource, or a built-in type by its name. */
  nameOfPath(path: string): string {
    return this.#typeNames.get(path) ?? this.#resourceNames.get(path) ?? path;
  }

  resourceName(resource: Pick<ResourceRef, 'path'>): string {
    return this.#resourceNames.get(resource.path) ?? resource.path;
  }

  fileIndex(path: string): number {
    const index = this.#files.get(path);
    assert(index !== undefined, 'the file belongs to the program');
    return index;
  }

  source(path: string): SourceFile {
    const file = this.program.files.get(path);
    assert(file !== undefined, 'the file belongs to the program');
    return file.source;
  }

  line(path: string, offset: number): number {
    return lineNumberAt(this.source(path), offset);
  }
}

const PLACEHOLDER: IrFunction = {
  name: '?',
  params: [],
  captures: 0,
  registers: 0,
  code: [],
  handlers: [],
  positions: [],
};

function constantKey(value: IrConstant): string {
  if (value.kind === 'float') return `float:${String(value.value)}`;
  return JSON.stringify(value);
}

/** A name that is taken becomes a path, of which people see the last part. */
function shortNames(
  entries: readonly { readonly path: string }[],
  names: Map<string, string>,
  taken: Set<string>,
): void {
  for (const { path } of entries) {
    const short = path.split('::').at(-1) ?? path;
    const long = path.includes('::') ? path : `crate::${path}`;
    names.set(path, taken.has(short) ? long : short);
    taken.add(short);
  }
}
