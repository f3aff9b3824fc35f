import { err, type Json, ok, type Result } from '@concerto/base';
import { display } from './display.ts';
import { keyValue } from './equality.ts';
import { array, type EnumValue, emptyMap, float, MAX_INT, type ObjectValue, stringKey, type Value } from './value.ts';

/** Compact JSON text; with an indent, one item a line. Struct fields in declared order, Some(v) as v, None as null. */
export function stringify(value: Value, indent = 0): string {
  return write(value, indent, '\n');
}

function write(value: Value, indent: number, newline: string): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === null || value === undefined) return 'null';
  switch (value.kind) {
    case 'float':
      return writeFloat(value.value);
    case 'none':
      return 'null';
    case 'some':
      return write(value.value, indent, newline);
    case 'array':
    case 'stack':
      return writeItems(value.items, indent, newline);
    case 'queue':
      return writeItems(value.items.slice(value.head), indent, newline);
    case 'set':
      return writeItems([...value.items.values()], indent, newline);
    default: {
      const fields = fieldsOf(value);
      return fields === undefined ? JSON.stringify(scalarText(value)) : object(fields, indent, newline);
    }
  }
}

function writeItems(items: readonly Value[], indent: number, newline: string): string {
  const inner = newline + ' '.repeat(indent);
  return bracket(
    '[]',
    items.map((item) => write(item, indent, inner)),
    indent,
    newline,
  );
}

/** What is an object in JSON; undefined for values that are a text. */
function fieldsOf(value: ObjectValue): readonly (readonly [string, Value])[] | undefined {
  switch (value.kind) {
    case 'ok':
      return [['Ok', value.value]];
    case 'err':
      return [['Err', value.value]];
    case 'map':
      return [...value.entries].map(([key, item]) => [display(keyValue(value, key)), item]);
    case 'struct': {
      if (value.type.kind === 'tool') return undefined;
      const fields: (readonly [string, Value])[] = [];
      value.type.fields.forEach((field, slot) => {
        if (!field.hidden) fields.push([field.name, value.fields[slot]]);
      });
      return [...fields, ...(value.extra ?? [])];
    }
    case 'enum':
      return variantFields(value);
    case 'range':
      return [
        ['start', value.start],
        ['end', value.end],
        ['inclusive', value.inclusive],
      ];
    default:
      return undefined;
  }
}

/** A variant with data is an object with its name as the one key; without data it is its name. */
function variantFields(value: EnumValue): readonly (readonly [string, Value])[] | undefined {
  const variant = value.type.variants[value.variant];
  if (variant === undefined || value.payload.length === 0) return undefined;
  if (variant.fields !== null) {
    const data = emptyMap();
    variant.fields.forEach((name, index) => data.entries.set(stringKey(name), value.payload[index]));
    return [[variant.name, data]];
  }
  const [only] = value.payload;
  return [[variant.name, value.payload.length === 1 ? only : array([...value.payload])]];
}

function scalarText(value: ObjectValue): string {
  return value.kind === 'enum' ? (value.type.variants[value.variant]?.name ?? '') : display(value);
}

function object(entries: readonly (readonly [string, Value])[], indent: number, newline: string): string {
  const inner = newline + ' '.repeat(indent);
  const colon = indent > 0 ? ': ' : ':';
  const parts = entries.map(([key, item]) => `${JSON.stringify(key)}${colon}${write(item, indent, inner)}`);
  return bracket('{}', parts, indent, newline);
}

/** `newline` is that of the brackets; the parts are one indent further in. */
function bracket(brackets: '[]' | '{}', parts: readonly string[], indent: number, newline: string): string {
  if (parts.length === 0) return brackets;
  const [open, close] = brackets;
  if (indent === 0) return open + parts.join(',') + close;
  const inner = newline + ' '.repeat(indent);
  return `${open}${inner}${parts.join(`,${inner}`)}${newline}${close}`;
}

/** A whole Float keeps its point, so that it is read back as a Float. */
function writeFloat(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** The value as plain data, for effects. Floats lose their point here: use `stringify` for what is written. */
export function toJson(value: Value): Json {
  const data: unknown = JSON.parse(stringify(value));
  return asJson(data);
}

function asJson(data: unknown): Json {
  if (data === null || typeof data === 'boolean' || typeof data === 'number' || typeof data === 'string') return data;
  if (Array.isArray(data)) return data.map(asJson);
  if (typeof data !== 'object') return null;
  return Object.fromEntries(Object.entries(data).map(([key, item]) => [key, asJson(item)]));
}

/** Plain data as a value: whole numbers in the range of Int are Ints. */
export function fromJson(data: Json | undefined): Value {
  if (data === null || data === undefined || typeof data === 'boolean' || typeof data === 'string') return data ?? null;
  if (typeof data === 'number') return Number.isSafeInteger(data) && !Object.is(data, -0) ? data : float(data);
  if (isList(data)) return array(data.map(fromJson));
  const map = emptyMap();
  for (const key of Object.keys(data)) map.entries.set(stringKey(key), fromJson(data[key]));
  return map;
}

export function isList(data: Json): data is readonly Json[] {
  return Array.isArray(data);
}

/** How deep JSON text may nest; deeper text is refused instead of exhausting the stack. */
const MAX_DEPTH = 512;

/** Reads JSON text: keys in their order, `1` an Int and `1.0` a Float. */
export function parseJson(text: string): Result<Value, string> {
  const reader = new JsonReader(text);
  try {
    return ok(reader.document());
  } catch (cause) {
    if (cause instanceof JsonError) return err(cause.message);
    throw cause;
  }
}

class JsonError extends Error {
  readonly code = 'bad_json';
}

const BLANK = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
// eslint-disable-next-line no-control-regex
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Value {
    const value = this.#value(0);
    if (this.#at < this.#text.length) this.#fail('unexpected text after the value');
    return value;
  }

  #value(depth: number): Value {
    if (depth > MAX_DEPTH) this.#fail(`nested deeper than ${MAX_DEPTH}`);
    this.#blank();
    const value = this.#bare(depth);
    this.#blank();
    return value;
  }

  #bare(depth: number): Value {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#array(depth);
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return this.#number();
    }
  }

  #object(depth: number): Value {
    const map = emptyMap();
    this.#at++;
    this.#blank();
    if (this.#take('}')) return map;
    do {
      this.#blank();
      if (this.#text[this.#at] !== '"') this.#fail('expected a key');
      const key = stringKey(this.#string());
      this.#blank();
      if (!this.#take(':')) this.#fail('expected ":"');
      map.entries.set(key, this.#value(depth + 1));
    } while (this.#take(','));
    if (!this.#take('}')) this.#fail('expected "," or "}"');
    return map;
  }

  #array(depth: number): Value {
    const items: Value[] = [];
    this.#at++;
    this.#blank();
    if (this.#take(']')) return array(items);
    do items.push(this.#value(depth + 1));
    while (this.#take(','));
    if (!this.#take(']')) this.#fail('expected "," or "]"');
    return array(items);
  }

  #string(): string {
    STRING.lastIndex = this.#at;
    const match = STRING.exec(this.#text);
    if (match === null) return this.#fail('bad string');
    this.#at = STRING.lastIndex;
    const value: unknown = JSON.parse(match[0]);
    return String(value);
  }

  #number(): Value {
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (match === null) return this.#fail(this.#at < this.#text.length ? 'unexpected character' : 'unexpected end');
    const value = Number(match[0]);
    if (match[1] !== undefined || match[2] !== undefined) {
      this.#at = NUMBER.lastIndex;
      return float(value);
    }
    if (Math.abs(value) > MAX_INT) this.#fail('number out of the range of Int');
    this.#at = NUMBER.lastIndex;
    return value === 0 ? 0 : value;
  }

  #word(word: string, value: Value): Value {
    if (!this.#text.startsWith(word, this.#at)) this.#fail('unexpected character');
    this.#at += word.length;
    return value;
  }

  #take(token: string): boolean {
    if (this.#text[this.#at] !== token) return false;
    this.#at++;
    return true;
  }

  #blank(): void {
    BLANK.lastIndex = this.#at;
    BLANK.exec(this.#text);
    this.#at = BLANK.lastIndex;
  }

  #fail(problem: string): never {
    const line = this.#text.slice(0, this.#at).split('\n');
    throw new JsonError(`${problem} at line ${line.length} column ${(line.at(-1)?.length ?? 0) + 1}`);
  }
}
