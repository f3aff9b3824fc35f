import { assert } from '@concerto/base';
import {
  AddToken,
  AgentList,
  AnswerRequest,
  BlobRef,
  ConfigurePool,
  DescribeSession,
  JsonValue,
  KeptAgentList,
  LifecycleAccepted,
  LifecycleVerb,
  Message,
  MessageList,
  OpenRequestList,
  OrderMessages,
  OverviewEvent,
  Person,
  PoolState,
  Problem,
  ProgramFile,
  ProgramList,
  ProgramSource,
  PutProgramFile,
  PutRules,
  ReviseMessage,
  RuleList,
  RulesTried,
  RunInput,
  SendMessage,
  SentMessage,
  Session,
  SessionList,
  SetSupervisor,
  StartRun,
  StartSession,
  StopServer,
  Template,
  TemplateList,
  TokenAdded,
  TokenList,
  TryRules,
} from '@concerto/protocol';
import * as z from 'zod';
import { asideOperations, asideSchemas } from './openapi-aside.ts';
import { EventPage, eventSchemas } from './openapi-events.ts';
import type { Operation } from './openapi-operation.ts';
import { wireOperations, wireSchemas } from './openapi-wires.ts';

const Ok = z.strictObject({ ok: z.literal(true) });
const RunStarted = z.strictObject({ run_id: z.string(), runId: z.string() });
const cursors = ['after', 'format', 'limit'] as const;

/** What is referred to by name, in the document as in the code. */
const named = {
  ...eventSchemas,
  ...wireSchemas,
  ...asideSchemas,
  AddToken,
  AgentList,
  AnswerRequest,
  BlobRef,
  ConfigurePool,
  DescribeSession,
  EventPage,
  Json: JsonValue,
  LifecycleAccepted,
  Message,
  MessageList,
  Ok,
  OpenRequestList,
  OrderMessages,
  OverviewEvent,
  Person,
  PoolState,
  ProgramFile,
  ProgramList,
  ProgramSource,
  PutProgramFile,
  Problem,
  PutRules,
  ReviseMessage,
  RuleList,
  RulesTried,
  RunInput,
  RunStarted,
  SendMessage,
  SentMessage,
  Session,
  SessionList,
  SetSupervisor,
  StartRun,
  StartSession,
  Template,
  TemplateList,
  TokenAdded,
  KeptAgentList,
  StopServer,
  TokenList,
  TryRules,
} as const;

/** Every call, once: `METHOD path`. The schemas are the ones the routes parse with. */
const operations: Readonly<Record<string, Operation>> = {
  'post /api/sessions': {
    role: 'agent',
    summary: 'Start a session',
    body: StartSession,
    status: 201,
    answer: Session,
  },
  'get /api/sessions': {
    role: 'observer',
    summary:
      'List sessions; with `q` those in which every word of it was said, as far as one call looks; with `tree` each with all it opened after it, which `limit` does not count',
    answer: SessionList,
    query: ['q', 'status', 'parent', 'tree', 'archived', 'cursor', 'limit'],
  },
  'get /api/sessions/{id}': { role: 'observer', summary: 'One session', answer: Session },
  'put /api/sessions/{id}/supervisor': {
    role: 'member',
    summary: 'Set, replace or take away the program that answers for it',
    body: SetSupervisor,
    answer: Session,
  },
  'patch /api/sessions/{id}': {
    role: 'member',
    summary: 'Give it a title, put it away or take it out again',
    body: DescribeSession,
    answer: Session,
  },
  'delete /api/sessions/{id}': {
    role: 'member',
    summary: 'Delete a session that is over, with all it holds and opened',
    answer: Ok,
  },
  'get /api/sessions/{id}/events': {
    role: 'observer',
    summary: 'Replay, then live events',
    answer: EventPage,
    query: cursors,
    stream: true,
  },
  'get /api/sessions/{id}/messages': {
    role: 'observer',
    summary: 'The queue',
    answer: MessageList,
    query: ['all', 'after', 'limit'],
  },
  'post /api/sessions/{id}/messages': {
    role: 'agent',
    summary: 'Send or steer',
    body: SendMessage,
    status: 202,
    answer: SentMessage,
  },
  'put /api/sessions/{id}/messages/order': {
    role: 'member',
    summary: 'Reorder the queue',
    body: OrderMessages,
    answer: MessageList,
  },
  'patch /api/sessions/{id}/messages/{mid}': {
    role: 'member',
    summary: 'Edit or promote',
    body: ReviseMessage,
    answer: Message,
  },
  'delete /api/sessions/{id}/messages/{mid}': { role: 'member', summary: 'Take a message back', answer: Message },
  'get /api/sessions/{id}/requests': { role: 'observer', summary: 'Open requests', answer: OpenRequestList },
  'post /api/sessions/{id}/requests/{rid}': {
    role: 'member',
    summary: 'Answer a request',
    body: AnswerRequest,
    answer: Ok,
  },
  ...asideOperations,
  'get /api/pool': { role: 'observer', summary: 'Slots', answer: PoolState },
  'put /api/pool': { role: 'owner', summary: 'Change the number of slots', body: ConfigurePool, answer: PoolState },
  'get /api/rules': { role: 'observer', summary: 'What is answered without a person', answer: RuleList },
  'put /api/rules': { role: 'owner', summary: 'Replace the rules of the store', body: PutRules, answer: RuleList },
  'post /api/rules/try': {
    role: 'observer',
    summary: 'Which rule would decide, and why',
    body: TryRules,
    answer: RulesTried,
  },
  'get /api/programs': { role: 'observer', summary: 'The programs of the manifest', answer: ProgramList },
  'get /api/programs/{name}': { role: 'observer', summary: 'The sources of a program', answer: ProgramSource },
  'put /api/programs/{name}': {
    role: 'owner',
    summary: 'Write one of its sources, where the server listens on its own machine alone',
    body: PutProgramFile,
    answer: ProgramFile,
  },
  'get /api/agents': { role: 'observer', summary: 'What sessions can be started with', answer: AgentList },
  'get /api/templates': { role: 'observer', summary: 'List templates', answer: TemplateList },
  'post /api/templates': { role: 'owner', summary: 'Create a template', body: Template, status: 201, answer: Template },
  'get /api/templates/{name}': { role: 'observer', summary: 'One template', answer: Template },
  'put /api/templates/{name}': { role: 'owner', summary: 'Replace a template', body: Template, answer: Template },
  'delete /api/templates/{name}': { role: 'owner', summary: 'Delete a template', status: 204 },
  'post /api/agent/run': { role: 'agent', summary: 'Start a run', body: StartRun, answer: RunStarted },
  'get /api/events': {
    role: 'observer',
    summary: 'Every row of the overview, then what changes: `session`, `request`, `requestSettled`',
    answer: OverviewEvent,
    query: ['after', 'tree', 'rows'],
    stream: true,
  },
  'get /api/agent/{id}/events': {
    role: 'observer',
    summary: 'Events of a run; with `include=requests` what an assistant’s model was asked too, as `sendRequest`',
    answer: EventPage,
    query: [...cursors, 'include'],
    stream: true,
  },
  'post /api/agent/{id}/input': { role: 'member', summary: 'Answer a run', body: RunInput, answer: Ok },
  'post /api/agent/{id}/abort': { role: 'agent', summary: 'Abort a run', answer: Ok },
  'post /api/blobs': {
    role: 'agent',
    summary: 'Keep a file; its type is the `content-type`',
    bytes: 'taken',
    status: 201,
    answer: BlobRef,
  },
  'get /api/blobs/{handle}': { role: 'observer', summary: 'A file as it was kept', bytes: 'given', query: ['name'] },
  'get /api/me': { role: 'observer', summary: 'Who you are, and as what', answer: Person },
  'get /api/tokens': { role: 'owner', summary: 'Who may call', answer: TokenList },
  'post /api/tokens': {
    role: 'owner',
    summary: 'A token for somebody',
    body: AddToken,
    status: 201,
    answer: TokenAdded,
  },
  'delete /api/tokens/{name}': { role: 'owner', summary: 'Revoke a token, and end what it has open', status: 204 },
  ...wireOperations,
  'get /api/kept': { role: 'owner', summary: 'Agents that outlive this server', answer: KeptAgentList },
  'delete /api/kept/{session}': { role: 'owner', summary: 'End the agent of a session', status: 204 },
  'post /api/stop': {
    role: 'owner',
    summary: 'Stop the server; its agents go on unless they are to end too',
    body: StopServer,
    status: 202,
    answer: Ok,
  },
  'get /metrics': { role: 'observer', summary: 'What an operator watches, for Prometheus', text: true },
  'get /healthz': { summary: 'The server answers', answer: Ok, role: 'anyone' },
  'get /readyz': { summary: 'The store answers too', answer: Ok, role: 'anyone' },
  'get /api/openapi.json': { summary: 'This document', role: 'anyone' },
  'get /api/schema/manifest': { summary: 'The JSON schema of Concerto.toml', answer: JsonValue, role: 'anyone' },
  ...Object.fromEntries(
    LifecycleVerb.options.map((verb) => [
      `post /api/sessions/{id}/${verb}`,
      { role: 'agent', summary: `Ask to ${verb}`, status: 202, answer: LifecycleAccepted } as const,
    ]),
  ),
};

const templates = Object.entries(operations).map(([call, { role }]) => {
  const [method = '', path = ''] = call.split(' ');
  return { method: method.toUpperCase(), path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), role };
});

/** The path as the document has it, without anybody's ids; what is in no row has one name. */
export function routeOf(method: string, path: string): string {
  const asked = method === 'HEAD' ? 'GET' : method;
  return templates.find((template) => template.method === asked && template.pattern.test(path))?.path ?? '*';
}

/** Who may call it; undefined when there is no such call. What is not in the table is nobody's. */
export function roleFor(method: string, path: string): Operation['role'] | undefined {
  const asked = method === 'HEAD' ? 'GET' : method;
  return templates.find((template) => template.method === asked && template.pattern.test(path))?.role;
}

/** What a path can be called with; empty when there is no such path. */
export function methodsOf(path: string): readonly string[] {
  const methods = templates.flatMap(({ method, pattern }) => (pattern.test(path) ? [method] : []));
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods;
}

export function openApiDocument(version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [call, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = call.split(' ');
    paths[path] = { ...paths[path], [method]: describe(method, path, operation) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Concerto',
      version,
      description: 'Supervise live agents. Errors are RFC 9457 with a stable `code`.',
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    // Whatever serves the document serves the calls.
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: components(),
    },
    paths,
  };
}

function describe(method: string, path: string, operation: Operation): object {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => ({
    name: match[1],
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = (operation.query ?? []).map((name) => ({ name, in: 'query', schema: { type: 'string' } }));
  const headers = [
    ...(takesKey(method, path) ? ['Idempotency-Key'] : []),
    ...(operation.stream === true ? ['Last-Event-ID'] : []),
  ].map((name) => ({ name, in: 'header', schema: { type: 'string' } }));
  const body = bodyOf(operation);
  return {
    operationId: operationId(method, path),
    summary: operation.summary,
    'x-role': operation.role,
    ...(operation.role === 'anyone' ? { security: [] } : {}),
    parameters: [...inPath, ...inQuery, ...headers],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      [String(operation.status ?? 200)]: { description: operation.summary, ...contentOf(operation) },
      '4XX': { description: 'Refused', ...problemContent() },
      default: { description: 'Failed', ...problemContent() },
    },
  };
}

function problemContent(): object {
  return { content: { 'application/problem+json': { schema: referenceTo(Problem) } } };
}

const anyBytes = { '*/*': { schema: { type: 'string', format: 'binary' } } };

function bodyOf({ body, bytes }: Operation): object | undefined {
  if (bytes === 'taken') return { required: true, content: anyBytes };
  if (body === undefined) return undefined;
  // A run of a program begins without being told anything.
  return { required: body !== StartRun, content: { 'application/json': { schema: referenceTo(body) } } };
}

/** Whatever, done twice, would not be the same as done once. */
function takesKey(method: string, path: string): boolean {
  if (path === '/api/tokens') return false;
  return method === 'post' || (method !== 'get' && path.startsWith('/api/sessions/'));
}

/** `post /api/sessions/{id}/messages` is `postSessionsIdMessages`. */
function operationId(method: string, path: string): string {
  const words = path.replace(/^\/api\//, '').match(/\w+/g) ?? [];
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function contentOf({ answer, stream, text, bytes }: Operation): object {
  if (bytes === 'given') return { content: anyBytes };
  if (text === true) return { content: { 'text/plain': { schema: { type: 'string' } } } };
  const frames = stream === true ? { 'text/event-stream': { schema: { type: 'string' } } } : {};
  if (answer === undefined) return stream === true ? { content: frames } : {};
  return {
    content: {
      ...frames,
      'application/json': { schema: referenceTo(answer) },
    },
  };
}

const componentPath = (name: string): string => `#/components/schemas/${name}`;

function referenceTo(schema: z.core.$ZodType): object {
  const name = Object.entries(named).find(([, candidate]) => candidate === schema)?.[0];
  assert(name !== undefined, 'a schema of a call has a name');
  return { $ref: componentPath(name) };
}

function components(): object {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { io: 'input', unrepresentable: 'any', uri: componentPath });
  for (const schema of Object.values(schemas)) {
    // A component is no document of its own: it has neither an address nor a dialect.
    delete schema.$id;
    delete schema.$schema;
  }
  // Any JSON holds any JSON: said so, generators make types of it that refer to themselves.
  return { ...schemas, Json: { description: 'Any JSON value' } };
}
