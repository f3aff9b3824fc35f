import { keyValue } from './equality.ts';
import type { EnumValue, StructValue, Value } from './value.ts';

/** Nested deeper than this, a value is cut off with dots: a list of lists of lists must not exhaust the stack. */
const MAX_DEPTH = 200;

/** The display form: what emit prints, interpolation joins, and a cast to String gives. */
export function display(value: Value): string {
  return show(value, 0);
}

function show(value: Value, depth: number): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === null || value === undefined) return 'nil';
  if (depth > MAX_DEPTH) return '...';
  switch (value.kind) {
    case 'float':
      return displayFloat(value.value);
    case 'array':
      return list('[', value.items, ']', depth);
    case 'map': {
      const parts: string[] = [];
      for (const [key, item] of value.entries)
        parts.push(`"${show(keyValue(value, key), depth)}": ${show(item, depth + 1)}`);
      return `{${parts.join(', ')}}`;
    }
    case 'struct':
      return showStruct(value, depth);
    case 'enum':
      return showVariant(value, depth);
    case 'some':
      return `Some(${show(value.value, depth + 1)})`;
    case 'none':
      return 'None';
    case 'ok':
      return `Ok(${show(value.value, depth + 1)})`;
    case 'err':
      return `Err(${show(value.value, depth + 1)})`;
    case 'range':
      return `${value.start ?? ''}${value.inclusive ? '..=' : '..'}${value.end ?? ''}`;
    case 'set':
      return list('{', [...value.items.values()], '}', depth);
    case 'queue':
      return list('[', value.items.slice(value.head), ']', depth);
    case 'stack':
      return list('[', value.items, ']', depth);
    case 'closure':
      return `<fn ${value.target.name}>`;
    case 'builtin':
      return `<fn ${value.name}>`;
    case 'ref':
      return `<${value.of} ${value.name}>`;
    case 'hashmap':
    case 'ledger':
    case 'memory':
      return `<${value.kind} ${value.name}>`;
    case 'builder':
      return `<builder ${value.target.name}>`;
    case 'type':
      return value.text;
    case 'cell':
      return show(value.value, depth + 1);
    case 'iterator':
      return '<iterator>';
  }
}

/** Of an error of the language: it stands where a text is wanted. */
export function messageOf(value: Value): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return value.kind === 'struct' && value.type.kind === 'error' ? display(value) : undefined;
}

function showStruct(value: StructValue, depth: number): string {
  const { type } = value;
  if (type.kind === 'error') return show(value.fields[type.slots.get('message') ?? 0], depth + 1);
  if (type.kind === 'tool') return `<tool ${type.name}>`;
  const parts: string[] = [];
  type.fields.forEach((field, slot) => {
    if (!field.hidden) parts.push(`${field.name}: ${show(value.fields[slot], depth + 1)}`);
  });
  if (value.extra !== null) for (const [name, item] of value.extra) parts.push(`${name}: ${show(item, depth + 1)}`);
  return `${shortName(type.name)} {${parts.join(', ')}}`;
}

function showVariant(value: EnumValue, depth: number): string {
  const variant = value.type.variants[value.variant];
  const name = `${shortName(value.type.name)}::${variant?.name ?? '?'}`;
  if (value.payload.length === 0) return name;
  if (variant?.fields) {
    const parts = variant.fields.map((field, index) => `${field}: ${show(value.payload[index], depth + 1)}`);
    return `${name} {${parts.join(', ')}}`;
  }
  return list(`${name}(`, value.payload, ')', depth);
}

/** A type in a module is known by its path; people read its name. */
export function shortName(name: string): string {
  return name.slice(name.lastIndexOf('::') + 1).replace(/^:/, '');
}

function list(open: string, items: readonly Value[], close: string, depth: number): string {
  return `${open}${items.map((item) => show(item, depth + 1)).join(', ')}${close}`;
}

/** The shortest decimal that reads back as the same number, never with an exponent. */
function displayFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0';
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return text;
  const [, sign = '', first = '', rest = '', exponent = '0'] = match;
  const digits = first + rest;
  const point = 1 + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return `${sign}${digits.padEnd(point, '0').slice(0, point)}${digits.length > point ? `.${digits.slice(point)}` : ''}`;
}

/** The name `typeof` gives. */
export function typeName(value: Value): string {
  if (typeof value === 'string') return 'String';
  if (typeof value === 'number') return 'Int';
  if (typeof value === 'boolean') return 'Bool';
  if (value === null || value === undefined) return 'Nil';
  switch (value.kind) {
    case 'float':
      return 'Float';
    case 'array':
      return 'Array';
    case 'map':
      return 'Map';
    case 'struct':
      return value.type.kind === 'tool' ? 'Tool' : shortName(value.type.name);
    case 'enum':
      return shortName(value.type.name);
    case 'some':
    case 'none':
      return 'Option';
    case 'ok':
    case 'err':
      return 'Result';
    case 'range':
      return 'Range';
    case 'set':
      return 'Set';
    case 'queue':
      return 'Queue';
    case 'stack':
      return 'Stack';
    case 'closure':
    case 'builtin':
      return 'Function';
    case 'ref':
      return REF_TYPES[value.of];
    case 'hashmap':
      return 'HashMapRef';
    case 'ledger':
      return 'LedgerRef';
    case 'memory':
      return 'MemoryRef';
    case 'builder':
      return 'Builder';
    case 'type':
      return 'Type';
    case 'cell':
      return typeName(value.value);
    case 'iterator':
      return 'Iterator';
  }
}

const REF_TYPES = {
  model: 'ModelRef',
  agent: 'AgentRef',
  pipeline: 'PipelineRef',
  schema: 'SchemaRef',
  mcp: 'McpRef',
  session: 'Session',
} as const;
