import type { FromKeeper, ToKeeper } from './frames.ts';

/** The keeper has no dependency, so what comes over the socket is checked by hand. */
type Field =
  | 'number'
  | 'string'
  | 'boolean'
  | 'object'
  | 'array'
  | 'number?'
  | 'boolean?'
  | 'string?'
  | 'string|null'
  | 'number|null'
  | 'object|null';
type Shape = Readonly<Record<string, Field>>;
type Fields = readonly (readonly [string, Field])[];

const toKeeper = fieldsOf<ToKeeper['type']>({
  hello: { version: 'number', secret: 'string', short: 'boolean?' },
  start: { agent: 'string', epoch: 'number', launch: 'object', stepMs: 'number', keepMs: 'number' },
  attach: { agent: 'string', epoch: 'number' },
  list: {},
  end: { agent: 'string', epoch: 'number?', stepMs: 'number?' },
  line: { step: 'number', index: 'number' },
  note: { step: 'number' },
  ack: { bytes: 'number' },
  signal: { signal: 'string' },
  'end-own': { stepMs: 'number?', atWork: 'boolean' },
  forget: {},
});

const fromKeeper = fieldsOf<FromKeeper['type']>({
  welcome: { version: 'number', pid: 'number', short: 'boolean?' },
  started: { identity: 'object' },
  attached: { identity: 'object', written: 'object|null', notes: 'number', bytes: 'number' },
  note: { step: 'number' },
  out: {},
  stderr: {},
  taken: { step: 'number', index: 'number' },
  untaken: { reason: 'string', step: 'number', index: 'number' },
  exit: { code: 'number|null', signal: 'string|null', unownedMs: 'number?', reason: 'string?' },
  listed: { agents: 'array' },
  done: { found: 'boolean' },
  refused: { code: 'string', message: 'string' },
});

const launch: Fields = Object.entries({
  command: 'string',
  args: 'array',
  cwd: 'string',
  env: 'object',
  marker: 'string',
});
const signals: ReadonlySet<unknown> = new Set(['SIGINT', 'SIGTERM', 'SIGKILL', 'SIGSTOP', 'SIGCONT']);

export function isToKeeper(head: unknown): head is ToKeeper {
  if (!isShaped(head, toKeeper)) return false;
  if (head.type === 'signal') return signals.has(head.signal);
  return head.type !== 'start' || isLaunch(head.launch);
}

export function isFromKeeper(head: unknown): head is FromKeeper {
  return isShaped(head, fromKeeper);
}

function isLaunch(value: unknown): boolean {
  if (!isRecord(value) || !hasFields(value, launch)) return false;
  const { args, env } = value;
  const texts = [...(Array.isArray(args) ? args : []), ...(isRecord(env) ? Object.values(env) : [])];
  return texts.every((text) => typeof text === 'string');
}

function fieldsOf<Type extends string>(shapes: Readonly<Record<Type, Shape>>): ReadonlyMap<string, Fields> {
  return new Map(Object.entries<Shape>(shapes).map(([type, shape]) => [type, Object.entries(shape)]));
}

function isShaped(head: unknown, shapes: ReadonlyMap<string, Fields>): head is Record<string, unknown> {
  if (!isRecord(head) || typeof head.type !== 'string') return false;
  const fields = shapes.get(head.type);
  return fields !== undefined && hasFields(head, fields);
}

function hasFields(value: Record<string, unknown>, fields: Fields): boolean {
  for (const [name, field] of fields) if (!isField(value[name], field)) return false;
  return true;
}

function isField(value: unknown, field: Field): boolean {
  switch (field) {
    case 'number':
    case 'string':
    case 'boolean':
      return typeof value === field;
    case 'number?':
      return value === undefined || typeof value === 'number';
    case 'string?':
      return value === undefined || typeof value === 'string';
    case 'boolean?':
      return value === undefined || typeof value === 'boolean';
    case 'string|null':
      return value === null || typeof value === 'string';
    case 'number|null':
      return value === null || typeof value === 'number';
    case 'object|null':
      return value === null || isRecord(value);
    case 'object':
      return isRecord(value);
    case 'array':
      return Array.isArray(value);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
