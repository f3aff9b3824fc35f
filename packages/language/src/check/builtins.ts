import { lazily } from '@concerto/base';
import {
  BUILTIN_NAMES,
  BUILTIN_STRUCTS,
  BUILTIN_TYPES,
  type BuiltinName,
  type BuiltinStruct,
  builtinSignature,
  builtinSpec,
  type Signature as IrSignature,
  MESSAGE_TYPES,
  type MessageType,
  parseSignature,
  STD_MODULES,
  type TypeExpr,
} from '@concerto/ir';
import {
  ANY,
  applied,
  CON,
  type FieldInfo,
  functionOf,
  literalUnion,
  type MethodInfo,
  mapOf,
  type ParamInfo,
  type Signature,
  STRING,
  type TraitInfo,
  type Type,
  type TypeCon,
  type TypeParam,
  tupleOf,
  typeCon,
  typeParam,
  unionOf,
} from './types.ts';

export interface BuiltinFunction {
  readonly name: string;
  readonly signature: Signature;
  readonly takesTypes: boolean;
}

export interface BuiltinMethod extends MethodInfo {
  /** As the call targets name the receiver: `Array`, `ModelRef`, `Builder`. */
  readonly receiverName: string;
  /** The type of `self` in the signature, to bind its parameters to the receiver. */
  readonly selfType: Type;
  /** Takes a type in angle brackets: `execute_with_schema<T>`. */
  readonly takesTypes: boolean;
}

/** The built-in table of the language as the checker needs it: names to types and signatures. */
export interface Builtins {
  /** `print`, `Ok`, `std::json::parse`, `ToolError::new`. */
  readonly functions: ReadonlyMap<string, BuiltinFunction>;
  /** `Int`, `Response`, `AgentError`, `Set`. */
  readonly types: ReadonlyMap<string, TypeCon>;
  /** `std`, `std::json`, …. */
  readonly modules: ReadonlySet<string>;
  /** By the name of the receiver's type constructor. */
  readonly methods: ReadonlyMap<string, ReadonlyMap<string, BuiltinMethod>>;
}

/** Two spellings of one type. */
const ALIASES: Readonly<Record<string, string>> = {
  HashMapRef: 'HashMap',
  Database: 'HashMap',
  LedgerRef: 'Ledger',
  MemoryRef: 'Memory',
  HostRef: 'AgentRef',
  ToolRef: 'Tool',
};

/** How the rows of the table call the receiver that the checker knows under another name. */
const RECEIVER_OF: Readonly<Record<string, string>> = {
  HashMap: 'HashMapRef',
  Ledger: 'LedgerRef',
  Memory: 'MemoryRef',
};

/** The table says `Any` for a store's keys and values because they are not known at run time; here they are. */
const TYPED_STORE: Readonly<Record<string, string>> = {
  set: 'fn<K, V>(self: HashMap<K, V>, key: K, value: V) -> Nil',
  with_persistence: 'fn<K, V>(self: HashMap<K, V>, path: String) -> HashMap<K, V>',
  get: 'fn<K, V>(self: HashMap<K, V>, key: K) -> Option<V>',
  get_or: 'fn<K, V>(self: HashMap<K, V>, key: K, other: V) -> V',
  has: 'fn<K, V>(self: HashMap<K, V>, key: K) -> Bool',
  delete: 'fn<K, V>(self: HashMap<K, V>, key: K) -> Bool',
  keys: 'fn<K, V>(self: HashMap<K, V>) -> Array<K>',
  values: 'fn<K, V>(self: HashMap<K, V>) -> Array<V>',
  entries: 'fn<K, V>(self: HashMap<K, V>) -> Array<(K, V)>',
  query: 'fn<K, V>(self: HashMap<K, V>, f: fn(K, V) -> Bool) -> Array<(K, V)>',
  find: 'fn<K, V>(self: HashMap<K, V>, f: fn(K, V) -> Bool) -> Option<(K, V)>',
  any: 'fn<K, V>(self: HashMap<K, V>, f: fn(K, V) -> Bool) -> Bool',
  all: 'fn<K, V>(self: HashMap<K, V>, f: fn(K, V) -> Bool) -> Bool',
  count: 'fn<K, V>(self: HashMap<K, V>, f: fn(K, V) -> Bool) -> Int',
  set_many: 'fn<K, V>(self: HashMap<K, V>, entries: Map<K, V>) -> Nil',
  get_many: 'fn<K, V>(self: HashMap<K, V>, keys: Array<K>) -> Array<Option<V>>',
  on_change: 'fn<K, V>(self: HashMap<K, V>, key: K, f: fn(Any, Any) -> Any) -> Nil',
  on_any_change: 'fn<K, V>(self: HashMap<K, V>, f: fn(K, Any, Any) -> Any) -> Nil',
  scope: 'fn<K, V>(self: HashMap<K, V>, prefix: String) -> HashMap<K, V>',
};

const BUILTIN_TRAITS = ['Error', 'From', 'Display'];

/** The same for every program and never changed: what one adds to it (`impl Shape for Int`) is in its own `impls`. Made when it is first wanted, because most commands check nothing. */
export const builtinTable: () => Builtins = lazily(createBuiltins);

function createBuiltins(): Builtins {
  const types = createTypes();
  fillFields(types);
  const functions = new Map<string, BuiltinFunction>();
  const methods = new Map<string, Map<string, BuiltinMethod>>();
  for (const name of BUILTIN_NAMES) {
    if (name.startsWith('$')) continue;
    const spec = builtinSpec(name);
    const takesTypes = spec.typeArguments ?? false;
    const dot = name.indexOf('.');
    if (dot === -1) {
      functions.set(name, { name, signature: signatureOf(types, builtinSignature(name)), takesTypes });
      continue;
    }
    const receiverName = name.slice(0, dot);
    const table = methods.get(receiverName) ?? new Map<string, BuiltinMethod>();
    methods.set(receiverName, table);
    const method = name.slice(dot + 1);
    table.set(method, builtinMethod(types, { name, receiverName, method, takesTypes }));
  }
  for (const [name, row] of Object.entries(RECEIVER_OF)) methods.set(name, methods.get(row) ?? new Map());
  const modules = new Set(['std', ...STD_MODULES]);
  return { functions, types, modules, methods };
}

function createTypes(): Map<string, TypeCon> {
  const types = new Map<string, TypeCon>();
  const known: Readonly<Record<string, TypeCon>> = CON;
  for (const [name, arity] of Object.entries(BUILTIN_TYPES)) {
    if (ALIASES[name] !== undefined || name === 'Any') continue;
    const params = Array.from({ length: arity }, (_, index) => typeParam(`T${index}`));
    types.set(name, known[name] ?? typeCon(name, name === 'Error' ? 'failure' : 'object', { params }));
  }
  for (const [name, struct] of Object.entries<BuiltinStruct>(BUILTIN_STRUCTS)) {
    types.set(name, typeCon(name, struct.kind === 'error' ? 'failure' : 'object'));
  }
  // Also `ToolCall`, which a model's answer has as well: an agent may send more than anybody knows of.
  for (const { type } of Object.values<MessageType>(MESSAGE_TYPES)) {
    if (type !== undefined) types.set(type, typeCon(type, 'object', { open: true, base: mapOf(STRING, ANY) }));
  }
  for (const name of BUILTIN_TRAITS) {
    const con = types.get(name) ?? typeCon(name, 'trait');
    con.trait = builtinTrait(name, con);
    if (con.params.length === 0 && name === 'From') con.params = con.trait.typeParams;
    types.set(name, con);
  }
  for (const [alias, name] of Object.entries(ALIASES)) {
    const con = types.get(name);
    if (con !== undefined) types.set(alias, con);
  }
  return types;
}

function builtinTrait(name: string, con: TypeCon): TraitInfo {
  const typeParams = name === 'From' ? [typeParam('T')] : [];
  return { name, path: name, methods: new Map(), con, typeParams, self: typeParam('Self'), declared: false };
}

function fillFields(types: Map<string, TypeCon>): void {
  for (const [name, struct] of Object.entries<BuiltinStruct>(BUILTIN_STRUCTS)) {
    const con = types.get(name);
    if (con === undefined) continue;
    con.fields = fieldsOf(types, struct.fields);
  }
  for (const { type, fields } of Object.values<MessageType>(MESSAGE_TYPES)) {
    const con = type === undefined ? undefined : types.get(type);
    if (con !== undefined) con.fields = new Map([...fieldsOf(types, fields), ...(con.fields ?? [])]);
  }
  const error = types.get('Error');
  if (error !== undefined) error.fields = fieldsOf(types, BUILTIN_STRUCTS.RuntimeError.fields);
}

function fieldsOf(types: Map<string, TypeCon>, fields: Readonly<Record<string, string>>): Map<string, FieldInfo> {
  const table = new Map<string, FieldInfo>();
  for (const [written, text] of Object.entries(fields)) {
    const optional = written.endsWith('?');
    const name = optional ? written.slice(0, -1) : written;
    const { result } = parseSignature(`fn() -> ${text}`);
    table.set(name, { name, type: typeOfExpr(types, new Map(), result), optional, hasDefault: true });
  }
  return table;
}

function builtinMethod(
  types: Map<string, TypeCon>,
  row: {
    readonly name: BuiltinName;
    readonly receiverName: string;
    readonly method: string;
    readonly takesTypes: boolean;
  },
): BuiltinMethod {
  const typed = row.receiverName === 'HashMapRef' ? TYPED_STORE[row.method] : undefined;
  const written = typed === undefined ? builtinSignature(row.name) : parseSignature(typed);
  const [self, ...params] = written.params;
  const signature = signatureOf(types, { ...written, params });
  const scope = new Map(signature.typeParams.map((param) => [param.name, param]));
  return {
    name: row.method,
    signature,
    receiver: self?.mut === true ? 'mut-self' : 'self',
    owner: types.get(row.receiverName),
    hasBody: true,
    ref: undefined,
    receiverName: row.receiverName,
    selfType: self === undefined ? ANY : typeOfExpr(types, scope, self.type),
    takesTypes: row.takesTypes,
  };
}

function signatureOf(types: Map<string, TypeCon>, written: IrSignature): Signature {
  const typeParams = written.typeParams.map((name) => ({ ...typeParam(name), isNumber: name === 'N' }));
  const scope = new Map(typeParams.map((param) => [param.name, param]));
  const params: ParamInfo[] = written.params.map((param) => ({
    name: param.name,
    type: typeOfExpr(types, scope, param.type),
    hasDefault: param.optional,
    variadic: param.rest,
    node: undefined,
  }));
  return { typeParams, params, result: typeOfExpr(types, scope, written.result), isAsync: false };
}

/** A type that something outside the program has written down; `Any` when it is not one. */
export function typeOfText(builtins: Builtins, text: string): Type {
  try {
    return typeOfExpr(builtins.types, new Map(), parseSignature(`fn() -> ${text}`).result);
  } catch {
    return ANY;
  }
}

function typeOfExpr(types: ReadonlyMap<string, TypeCon>, scope: ReadonlyMap<string, TypeParam>, expr: TypeExpr): Type {
  const inner = (part: TypeExpr) => typeOfExpr(types, scope, part);
  switch (expr.kind) {
    case 'name': {
      const param = scope.get(expr.name);
      if (param !== undefined) return { kind: 'param', param };
      const con = types.get(expr.name);
      if (con === undefined) return ANY;
      const args = expr.args.map(inner);
      return applied(
        con,
        con.params.map((_, index) => args[index] ?? ANY),
      );
    }
    case 'literal':
      return literalUnion([expr.value]);
    case 'tuple':
      return tupleOf(expr.items.map(inner));
    case 'fn':
      return functionOf(expr.params.map(inner), inner(expr.result));
    case 'union': {
      const values = expr.members.map((member) => (member.kind === 'literal' ? member.value : undefined));
      const texts = values.filter((value) => value !== undefined);
      return texts.length === values.length ? literalUnion(texts) : unionOf(expr.members.map(inner));
    }
  }
}

/** `Set::new` is written with and without its module. */
export function associatedBuiltin(builtins: Builtins, type: string, name: string): BuiltinFunction | undefined {
  return builtins.functions.get(`${type}::${name}`) ?? builtins.functions.get(`std::collections::${type}::${name}`);
}
