import { err, type Json, ok, type Result } from '@concerto/base';
import { formatType, parseType, type TypeExpr } from '@concerto/ir';
import { display, shortName, typeName } from './display.ts';
import { errorValue } from './fault.ts';
import { parseJson } from './json.ts';
import type { Vm } from './machine.ts';
import { describeEnum, readVariant } from './schema-enum.ts';
import { brokenRules, coerced, ruleText } from './schema-rules.ts';
import {
  array,
  emptyMap,
  float,
  MAX_INT,
  NONE,
  type StructType,
  type StructValue,
  some,
  stringKey,
  type Value,
} from './value.ts';

/** Checking values that came from outside against types, and describing types as JSON Schema. */

/** A value that fits the type: numbers coerced, defaults filled in, maps made structs. The errors name the path. */
export function conform(vm: Vm, value: Value, type: TypeExpr): Result<Value, readonly string[]> {
  const errors: string[] = [];
  const result = check(vm, value, type, { path: '', errors, coerces: false });
  return errors.length === 0 ? ok(result) : err(errors);
}

interface Place {
  readonly path: string;
  readonly errors: string[];
  /** Inside a schema with `@coerce`. */
  readonly coerces: boolean;
}

function check(vm: Vm, value: Value, type: TypeExpr, place: Place): Value {
  switch (type.kind) {
    case 'literal':
      return value === type.value ? value : refuse(place, JSON.stringify(type.value), value);
    case 'union':
      return checkUnion(vm, value, type.members, place);
    case 'tuple':
      return checkTuple(vm, value, type.items, place);
    case 'fn':
      return isKind(value, 'closure') || isKind(value, 'builtin') ? value : refuse(place, formatType(type), value);
    case 'name':
      return checkName(vm, value, type, place);
  }
}

function checkUnion(vm: Vm, value: Value, members: readonly TypeExpr[], place: Place): Value {
  for (const member of members) {
    const attempt: Place = { ...place, errors: [] };
    const result = check(vm, value, member, attempt);
    if (attempt.errors.length === 0) return result;
  }
  return refuse(place, members.map(formatType).join(' or '), value);
}

function checkTuple(vm: Vm, value: Value, items: readonly TypeExpr[], place: Place): Value {
  if (!isArray(value) || value.items.length !== items.length) return refuse(place, `${items.length} values`, value);
  return array(items.map((item, index) => check(vm, value.items[index], item, step(place, `[${index}]`))));
}

function checkName(vm: Vm, given: Value, type: Extract<TypeExpr, { kind: 'name' }>, place: Place): Value {
  const [first, second] = type.args;
  const value = place.coerces ? coerced(given, type.name) : given;
  switch (type.name) {
    case 'Any':
      return value;
    case 'String':
      return typeof value === 'string' ? value : refuse(place, 'a String', value);
    case 'Bool':
      return typeof value === 'boolean' ? value : refuse(place, 'a Bool', value);
    case 'Nil':
      return value === null ? null : refuse(place, 'nil', value);
    case 'Int':
      if (typeof value === 'number') return value;
      if (isFloat(value) && Number.isInteger(value.value) && Math.abs(value.value) <= MAX_INT) return value.value;
      return refuse(place, 'an Int', value);
    case 'Float':
      if (typeof value === 'number') return float(value);
      return isFloat(value) ? value : refuse(place, 'a Float', value);
    case 'Option':
      if (value === null || value === undefined || isKind(value, 'none')) return NONE;
      return some(check(vm, isKind(value, 'some') ? value.value : value, first ?? anyType, place));
    case 'Array':
      if (!isArray(value)) return refuse(place, 'an Array', value);
      return array(value.items.map((item, index) => check(vm, item, first ?? anyType, step(place, `[${index}]`))));
    case 'Map':
      return checkMap(vm, value, second ?? anyType, place);
    default:
      return checkDeclared(vm, value, type, place);
  }
}

function checkMap(vm: Vm, value: Value, type: TypeExpr, place: Place): Value {
  if (isKind(value, 'struct')) return value;
  if (!isKind(value, 'map')) return refuse(place, 'a Map', value);
  const result = emptyMap();
  for (const [key, item] of value.entries)
    result.entries.set(key, check(vm, item, type, step(place, `.${String(key)}`)));
  result.keys = value.keys;
  return result;
}

function checkDeclared(vm: Vm, value: Value, declared: NamedType, place: Place): Value {
  const { name } = declared;
  const struct = findStruct(vm, name);
  if (struct !== undefined) return checkStruct(vm, value, { type: struct, args: declared.args }, place);
  const alias = vm.program.module.aliases[name];
  if (alias !== undefined) return check(vm, value, parseType(alias), place);
  const enumType = vm.program.enums.get(name);
  if (enumType !== undefined) {
    if (isKind(value, 'enum') && value.type === enumType) return value;
    const found = readVariant(enumType, value);
    if (found === undefined) {
      return refuse(place, `one of ${enumType.variants.map((candidate) => candidate.name).join(', ')}`, value);
    }
    const inner = step(place, `.${found.name}`);
    const payload = found.parts.map(({ value: part, type }) => check(vm, part, parseType(type), inner));
    return { kind: 'enum', type: enumType, variant: found.index, payload };
  }
  return value;
}

function findStruct(vm: Vm, name: string): StructType | undefined {
  return vm.program.structs.get(name);
}

type NamedType = Extract<TypeExpr, { kind: 'name' }>;

/** A struct with what its type parameters stand for. */
interface AppliedStruct {
  readonly type: StructType;
  readonly args: readonly TypeExpr[];
}

function fieldType({ type, args }: AppliedStruct, text: string): TypeExpr {
  const written = parseType(text);
  return type.params.length === 0 ? written : substitute(written, type.params, args);
}

function substitute(type: TypeExpr, params: readonly string[], args: readonly TypeExpr[]): TypeExpr {
  const inside = (part: TypeExpr): TypeExpr => substitute(part, params, args);
  switch (type.kind) {
    case 'literal':
      return type;
    case 'union':
      return { kind: 'union', members: type.members.map(inside) };
    case 'tuple':
      return { kind: 'tuple', items: type.items.map(inside) };
    case 'fn':
      return { kind: 'fn', params: type.params.map(inside), result: inside(type.result) };
    case 'name': {
      const index = params.indexOf(type.name);
      return index === -1 ? { ...type, args: type.args.map(inside) } : (args[index] ?? anyType);
    }
  }
}

function checkStruct(vm: Vm, value: Value, applied: AppliedStruct, place: Place): Value {
  const { type } = applied;
  if (isKind(value, 'struct') && value.type === type) return value;
  if (!isKind(value, 'map')) return refuse(place, `an object (${shortName(type.name)})`, value);
  const coerces = place.coerces || type.modes?.includes('coerce') === true;
  const fields = type.fields.map((field): Value => {
    const given = value.entries.get(stringKey(field.name));
    const inner: Place = { ...step(place, `.${field.name}`), coerces };
    if (given === undefined || (given === null && field.optional)) {
      if (field.default !== undefined) return conformDefault(vm, field.default, fieldType(applied, field.type));
      if (field.optional || field.type.startsWith('Option<')) return NONE;
      place.errors.push(`${inner.path.slice(1)}: missing`);
      return null;
    }
    const before = place.errors.length;
    const checked = check(vm, given, fieldType(applied, field.type), inner);
    const broken = field.rules === undefined || place.errors.length > before ? [] : brokenRules(checked, field.rules);
    for (const rule of broken) place.errors.push(`${inner.path.slice(1)}: ${rule}`);
    return checked;
  });
  const result: StructValue = { kind: 'struct', type, fields, extra: null, shared: false };
  for (const [key, item] of value.entries) {
    if (typeof key !== 'string' || type.slots.has(key)) continue;
    if (type.modes?.includes('strict') === true) {
      place.errors.push(`${step(place, `.${key}`).path.slice(1)}: is not a field of ${shortName(type.name)}`);
      continue;
    }
    result.extra ??= new Map();
    result.extra.set(key, item);
  }
  return result;
}

function conformDefault(vm: Vm, value: Value, type: TypeExpr): Value {
  const result = conform(vm, value, type);
  return result.ok ? result.value : value;
}

function refuse(place: Place, expected: string, value: Value): null {
  const shown = typeof value === 'string' ? JSON.stringify(value) : `${typeName(value)} ${display(value)}`;
  const short = shown.length > 80 ? `${shown.slice(0, 77)}...` : shown;
  place.errors.push(
    `${place.path === '' ? 'value' : place.path.replace(/^\./, '')}: expected ${expected}, found ${short}`,
  );
  return null;
}

function step(place: Place, part: string): Place {
  return { ...place, path: place.path + part };
}

const anyType: TypeExpr = { kind: 'name', name: 'Any', args: [] };

function isArray(value: Value): value is Extract<Value, { kind: 'array' }> {
  return typeof value === 'object' && value !== null && value.kind === 'array';
}

function isFloat(value: Value): value is Extract<Value, { kind: 'float' }> {
  return typeof value === 'object' && value !== null && value.kind === 'float';
}

function isKind<K extends Exclude<Value, null | undefined | boolean | number | string>['kind']>(
  value: Value,
  kind: K,
): value is Extract<Value, { kind: K }> {
  return typeof value === 'object' && value !== null && value.kind === kind;
}

/** The first JSON value in a model's text: the text itself, a fenced block, or the first object or array in it. */
export function extractJson(text: string): Result<Value, string> {
  const whole = parseJson(text.trim());
  if (whole.ok) return whole;
  const fenced = /```[A-Za-z]*\s*\n([\s\S]*?)```/.exec(text);
  if (fenced !== null) {
    const inner = parseJson((fenced[1] ?? '').trim());
    if (inner.ok) return inner;
  }
  for (let start = text.search(/[{[]/); start >= 0; ) {
    const end = closing(text, start);
    if (end > start) {
      const found = parseJson(text.slice(start, end + 1));
      if (found.ok) return found;
    }
    const next = text.slice(start + 1).search(/[{[]/);
    start = next < 0 ? -1 : start + 1 + next;
  }
  return whole;
}

/** Where the bracket at `start` is closed, strings skipped; -1 when it is not. */
function closing(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
    } else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') {
      depth--;
      if (depth === 0) return at;
    }
  }
  return -1;
}

export function schemaError(name: string, errors: readonly string[], attempts = 1): StructValue {
  const times = attempts === 1 ? '' : ` (after ${attempts} attempts)`;
  return errorValue('SchemaError', `${name}: ${errors.join('; ')}${times}`, {
    kind: 'validation',
    details: array([...errors]),
  });
}

/** The type as JSON Schema, declared types in `$defs`. */
function jsonSchema(vm: Vm, type: TypeExpr): Json {
  const defs: Record<string, Json> = {};
  const root = describe(vm, type, defs);
  if (Object.keys(defs).length === 0) return root;
  return { ...asObject(root), $defs: defs };
}

function asObject(schema: Json): Record<string, Json> {
  return typeof schema === 'object' && schema !== null ? Object.fromEntries(Object.entries(schema)) : {};
}

function describe(vm: Vm, type: TypeExpr, defs: Record<string, Json>): Json {
  switch (type.kind) {
    case 'literal':
      return { type: 'string', enum: [type.value] };
    case 'union': {
      const literals = type.members.flatMap((member) => (member.kind === 'literal' ? [member.value] : []));
      if (literals.length === type.members.length) return { type: 'string', enum: literals };
      return { anyOf: type.members.map((member) => describe(vm, member, defs)) };
    }
    case 'tuple':
      return {
        type: 'array',
        prefixItems: type.items.map((item) => describe(vm, item, defs)),
        minItems: type.items.length,
        maxItems: type.items.length,
      };
    case 'fn':
      return {};
    case 'name':
      return describeName(vm, type, defs);
  }
}

function describeName(vm: Vm, type: Extract<TypeExpr, { kind: 'name' }>, defs: Record<string, Json>): Json {
  const [first, second] = type.args;
  switch (type.name) {
    case 'String':
      return { type: 'string' };
    case 'Int':
      return { type: 'integer' };
    case 'Float':
      return { type: 'number' };
    case 'Bool':
      return { type: 'boolean' };
    case 'Nil':
      return { type: 'null' };
    case 'Array':
    case 'Set':
      return { type: 'array', items: describe(vm, first ?? anyType, defs) };
    case 'Map':
      return { type: 'object', additionalProperties: describe(vm, second ?? anyType, defs) };
    case 'Option':
      return describe(vm, first ?? anyType, defs);
    default:
      return describeDeclared(vm, type, defs);
  }
}

function describeDeclared(vm: Vm, declared: NamedType, defs: Record<string, Json>): Json {
  const { name, args } = declared;
  const alias = vm.program.module.aliases[name];
  if (alias !== undefined) return describe(vm, parseType(alias), defs);
  const enumType = vm.program.enums.get(name);
  if (enumType !== undefined) return describeEnum(enumType, (text) => describe(vm, parseType(text), defs));
  const struct = findStruct(vm, name);
  if (struct === undefined) return {};
  const key = [shortName(name), ...args.map(formatType)].join('_').replaceAll(/\W+/g, '_');
  if (!Object.hasOwn(defs, key)) {
    defs[key] = {};
    defs[key] = describeStruct(vm, { type: struct, args }, defs);
  }
  return { $ref: `#/$defs/${key}` };
}

function describeStruct(vm: Vm, applied: AppliedStruct, defs: Record<string, Json>): Json {
  const { type } = applied;
  const properties: Record<string, Json> = {};
  const required: string[] = [];
  for (const field of type.fields) {
    const described = asObject(describe(vm, fieldType(applied, field.type), defs));
    // In words: providers differ in what else of JSON Schema they take.
    const told = [field.description, field.rules && ruleText(field.rules)].filter((part) => part !== undefined);
    properties[field.name] = told.length === 0 ? described : { ...described, description: told.join('; ') };
    if (!field.optional && field.default === undefined && !field.type.startsWith('Option<')) required.push(field.name);
  }
  return { type: 'object', properties, required, additionalProperties: false };
}

/** JSON Schema of a declared type with its own properties at the top, as providers want it. */
export function topLevelSchema(vm: Vm, type: TypeExpr): Json {
  const struct = type.kind === 'name' ? findStruct(vm, type.name) : undefined;
  if (struct === undefined) return jsonSchema(vm, type);
  const defs: Record<string, Json> = {};
  const args = type.kind === 'name' ? type.args : [];
  const root = asObject(describeStruct(vm, { type: struct, args }, defs));
  return Object.keys(defs).length === 0 ? root : { ...root, $defs: defs };
}
