import { type Json, parseDuration } from '@concerto/base';
import { parseType } from '@concerto/ir';
import { share } from '../copy-on-write.ts';
import { display } from '../display.ts';
import type { Answer, Request } from '../effects.ts';
import { builtinType, errorValue, fault } from '../fault.ts';
import { fromJson, stringify, toJson } from '../json.ts';
import type { RequestFinish, RequestStart } from '../machine.ts';
import { conform } from '../schema.ts';
import { emptyMap, errValue, float, NONE, okValue, some, struct, type Value } from '../value.ts';
import { absent, integer, text, wrong } from './arguments.ts';
import type { Entries } from './entry.ts';
import { fill } from './strings.ts';

/** Built-ins that ask the world: the clock, files, the environment, HTTP, whoever answers an emit. */

interface Asking {
  readonly start: RequestStart;
  readonly finish: RequestFinish;
}

const ask = (request: (args: readonly Value[]) => Request, finish: RequestFinish): Asking => ({
  start: (args) => ({ request: request(args) }),
  finish,
});

/** The answer's value; a refusal is a fault of the program. */
function value(answer: Answer): Json {
  if (answer.ok) return answer.value;
  throw fault('RuntimeError', answer.error.message, { kind: answer.error.kind ?? 'world' });
}

/** Ok(value) or Err(message). */
function result(answer: Answer, of: (data: Json) => Value): Value {
  return answer.ok ? okValue(of(answer.value)) : errValue(answer.error.message);
}

const clock = (of: (ms: number) => Value): Asking =>
  ask(
    () => ({ kind: 'now' }),
    (answer) => of(Number(value(answer))),
  );

/** A number of milliseconds, or a text such as `3d`. */
function durationOf(time: Value): number {
  if (typeof time !== 'string') return Math.max(0, integer(time, 'the time to wait'));
  const ms = parseDuration(time);
  if (ms !== undefined) return ms;
  throw fault('TypeError', `${JSON.stringify(time)} is no length of time: write "500ms", "90s", "1h 30m" or "3d"`);
}

const randomFloat = ask(
  () => ({ kind: 'random', of: 'float' }),
  (answer) => float(Number(value(answer))),
);

const randomInt = ask(
  ([low, high]) => {
    const [from, to] = [integer(low, 'the lower bound'), integer(high, 'the upper bound')];
    if (from > to) throw fault('RuntimeError', 'the lower bound is above the upper one');
    return { kind: 'random', of: 'int', low: from, high: to };
  },
  (answer) => Number(value(answer)),
);

const file = (op: 'read' | 'exists' | 'list' | 'remove' | 'size', finish: (answer: Answer) => Value): Asking =>
  ask(([path]) => ({ kind: 'file', op, path: text(path, 'the path') }), finish);

const writing = (op: 'write' | 'append'): Asking =>
  ask(
    ([path, content]) => ({ kind: 'file', op, path: text(path, 'the path'), text: display(content) }),
    (answer) => result(answer, () => null),
  );

const environment = (of: (found: Json, name: string) => Value): Asking =>
  ask(
    ([name]) => ({ kind: 'env', name: text(name, 'the name') }),
    (answer, [name]) => of(value(answer), display(name)),
  );

type HttpRequest = Extract<Request, { kind: 'http' }>;

function http(method: string, url: Value, body: Value, headers: Value): HttpRequest {
  const named: Record<string, string> = {};
  if (typeof headers === 'object' && headers !== null && headers.kind === 'map') {
    for (const [key, item] of headers.entries) named[String(key)] = display(item);
  } else if (!absent(headers)) throw wrong('the headers', 'a Map', headers);
  return {
    kind: 'http',
    method,
    url: text(url, 'the URL'),
    body: absent(body) ? null : stringify(body),
    headers: named,
  };
}

const httpAnswer: RequestFinish = (answer) =>
  result(answer, (data) => {
    const fields = typeof data === 'object' && data !== null && !Array.isArray(data) ? data : {};
    const from = (name: string): Value => fromJson(Object.entries(fields).find(([key]) => key === name)?.[1]);
    return struct(builtinType('HttpResponse'), [from('status'), from('body') ?? '', from('headers') ?? emptyMap()]);
  });

const httpCall = (request: (args: readonly Value[]) => Request): Asking => ask(request, httpAnswer);

export const WORLD = {
  $ask: {
    start: (args, vm) => {
      const channel = display(args[0]);
      const payload = share(args[1] ?? null);
      if (vm.capture) vm.captured.push({ channel, payload });
      return { request: { kind: 'ask', channel, payload } };
    },
    finish: (answer) => {
      if (answer.ok) return fromJson(answer.value);
      throw fault('EmitError', answer.error.message, { kind: answer.error.kind ?? 'failed' });
    },
  },
  sleep: ask(
    ([time]) => ({ kind: 'sleep', ms: durationOf(time) }),
    () => null,
  ),
  now: clock((ms) => Math.trunc(ms)),
  every: 'prelude',
  $duration: (stack, at) => durationOf(stack[at]),
  flush_emits: ask(
    () => ({ kind: 'flush' }),
    () => null,
  ),
  env: environment((found) => fromJson(found)),
  'std::env::get': environment((found) => (found === null ? NONE : some(fromJson(found)))),
  'std::env::has': environment((found) => found !== null),
  'std::env::require': environment((found, name) =>
    found === null ? errValue(`the environment variable ${name} is not set`) : okValue(fromJson(found)),
  ),
  'std::env::all': ask(
    () => ({ kind: 'env', name: null }),
    (answer) => fromJson(value(answer)),
  ),

  'std::time::now': clock((ms) => isoTime(ms)),
  'std::time::now_ms': clock((ms) => Math.trunc(ms)),
  'std::time::sleep': ask(
    ([ms]) => ({ kind: 'sleep', ms: Math.max(0, integer(ms, 'the milliseconds')) }),
    () => null,
  ),
  'std::time::measure': 'prelude',

  'std::math::random': randomFloat,
  'std::math::random_int': randomInt,
  'std::random::float': randomFloat,
  'std::random::int': randomInt,
  'std::crypto::uuid': ask(
    () => ({ kind: 'random', of: 'uuid' }),
    (answer) => fromJson(value(answer)),
  ),
  'std::crypto::random_bytes': ask(
    ([count]) => ({ kind: 'random', of: 'bytes', count: Math.max(0, integer(count, 'the number of bytes')) }),
    (answer) => fromJson(value(answer)),
  ),

  'std::fs::read_file': file('read', (answer) => result(answer, fromJson)),
  'std::fs::exists': file('exists', (answer) => answer.ok && answer.value === true),
  'std::fs::list_dir': file('list', (answer) => result(answer, fromJson)),
  'std::fs::remove_file': file('remove', (answer) => result(answer, () => null)),
  'std::fs::file_size': file('size', (answer) => result(answer, fromJson)),
  'std::fs::write_file': writing('write'),
  'std::fs::append_file': writing('append'),
  'std::prompt::from_file': {
    start: ([path]) => ({ request: { kind: 'file', op: 'read', path: text(path, 'the path') } }),
    finish: (answer, [, values]) => result(answer, (content) => fill(display(fromJson(content)), values)),
  },

  'std::http::get': httpCall(([url, headers]) => http('GET', url, null, headers)),
  'std::http::delete': httpCall(([url, headers]) => http('DELETE', url, null, headers)),
  'std::http::post': httpCall(([url, body, headers]) => http('POST', url, body, headers)),
  'std::http::put': httpCall(([url, body, headers]) => http('PUT', url, body, headers)),
  'std::http::request': httpCall(([method, url, body, headers]) =>
    http(text(method, 'the method').toUpperCase(), url, body, headers),
  ),

  'std::http::public': httpCall(([method, url, body, headers]) => ({
    ...http(text(method, 'the method').toUpperCase(), url, body, headers),
    publicOnly: true,
  })),

  'McpRef.call': {
    start: ([server, tool, args]) => {
      if (typeof server !== 'object' || server === null || server.kind !== 'ref')
        throw wrong('the receiver', 'a server', server);
      return {
        request: {
          kind: 'mcp_call',
          server: server.name,
          tool: text(tool, 'the tool'),
          arguments: toJson(args ?? emptyMap()),
        },
      };
    },
    finish: (answer, _args, vm, request) => {
      if (!answer.ok)
        return errValue(errorValue('ToolError', answer.error.message, { kind: answer.error.kind ?? 'execution' }));
      const returns = request.kind === 'mcp_call' ? request.returns : undefined;
      // Nobody reads it: a tool that does something still says that it did.
      if (returns === 'Nil') return okValue(null);
      const value = fromJson(answer.value);
      if (returns === undefined || request.kind !== 'mcp_call') return okValue(value);
      const fitted = conform(vm, value, parseType(returns));
      if (fitted.ok) return okValue(fitted.value);
      const problem = `${request.server}.${request.tool} gave something else than ${returns}: ${fitted.error.join('; ')}`;
      return errValue(errorValue('ToolError', problem, { kind: 'schema' }));
    },
  },
  'McpRef.tools': {
    start: ([server]) => {
      if (typeof server !== 'object' || server === null || server.kind !== 'ref')
        throw wrong('the receiver', 'a server', server);
      return { request: { kind: 'mcp_tools', server: server.name } };
    },
    finish: (answer) =>
      answer.ok
        ? okValue(fromJson(answer.value))
        : errValue(errorValue('ToolError', answer.error.message, { kind: answer.error.kind ?? 'execution' })),
  },
} as const satisfies Entries;

/** ISO 8601 in UTC with milliseconds. */
function isoTime(ms: number): string {
  const date = new Date(Math.trunc(ms));
  if (Number.isNaN(date.getTime())) throw fault('RuntimeError', 'the clock shows no time');
  return date.toISOString();
}
