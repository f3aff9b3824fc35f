import * as z from 'zod/mini';
import { JsonValue } from './json-value.ts';

/**
 * What `codex app-server` says, as far as we act on it. All shapes are loose: the program adds fields and methods with
 * every release, and what it may leave out may also be null.
 */

/** What is of another shape than we know is as good as not there: it must not cost us the message, which may end a turn. */
function lenient<Schema extends z.ZodMiniType>(schema: Schema) {
  return z.catch(z.nullish(schema), undefined);
}

const word = lenient(z.string());
const record = z.record(z.string(), JsonValue);

export const InitializeResult = z.looseObject({ userAgent: word, codexHome: word });

export const ConfigResult = z.looseObject({ config: z.looseObject({ mcp_servers: lenient(record) }) });

export const ThreadResult = z.looseObject({
  thread: z.looseObject({ id: z.string().check(z.minLength(1)) }),
  model: word,
  cwd: word,
  approvalPolicy: lenient(JsonValue),
  sandbox: lenient(JsonValue),
  reasoningEffort: lenient(JsonValue),
  instructionSources: lenient(JsonValue),
});
export type ThreadResult = z.infer<typeof ThreadResult>;

export const AccountResult = z.looseObject({
  account: lenient(record),
  requiresOpenaiAuth: lenient(z.boolean()),
});

/** Commands that go on after the turn that began them. */
export const TerminalsResult = z.looseObject({ data: z.array(JsonValue) });

export const ModelsResult = z.looseObject({
  data: z.array(z.looseObject({ id: z.string(), displayName: word, description: word, hidden: lenient(z.boolean()) })),
});

export const TurnResult = z.looseObject({ turn: z.looseObject({ id: z.string().check(z.minLength(1)) }) });

const change = z.looseObject({
  path: z.string(),
  /** The hunks of an update; of a file that is added or deleted, its text. */
  diff: word,
  kind: lenient(z.looseObject({ type: word, move_path: word })),
});
export type CodexChange = z.infer<typeof change>;
const action = z.looseObject({ type: word, command: word, path: word });

/** Fields of all kinds of items; which of them an item has, its type says. */
export const Item = z.looseObject({
  type: z.string(),
  id: z.string(),
  text: word,
  status: word,
  command: word,
  cwd: word,
  commandActions: lenient(z.array(action)),
  aggregatedOutput: word,
  exitCode: lenient(z.number()),
  changes: lenient(z.array(change)),
  server: word,
  tool: word,
  arguments: lenient(JsonValue),
  query: word,
  result: lenient(JsonValue),
  error: lenient(z.looseObject({ message: word })),
  durationMs: lenient(z.number()),
  processId: word,
  path: word,
  /** Of a message that is not part of the answer: it may ask, and does not wait. */
  delivery: word,
  questions: lenient(z.array(z.looseObject({ title: z.string(), options: lenient(z.array(z.string())) }))),
  /** Of a sub-agent, which works in a thread of its own. */
  kind: word,
  reasoningEffort: lenient(JsonValue),
  agentThreadId: word,
  agentPath: word,
  model: word,
  prompt: word,
  receiverThreadIds: lenient(z.array(z.string())),
});
export type Item = z.infer<typeof Item>;

const failure = z.looseObject({ message: z.string(), codexErrorInfo: lenient(JsonValue), additionalDetails: word });
export type CodexFailure = z.infer<typeof failure>;

const count = z.number().check(z.nonnegative());
const tokens = z.looseObject({
  inputTokens: count,
  outputTokens: count,
  cachedInputTokens: lenient(count),
  cacheWriteInputTokens: lenient(count),
  reasoningOutputTokens: lenient(count),
});
export type CodexTokens = z.infer<typeof tokens>;

const about = { threadId: word, turnId: word };

/** A call and its params in one, so that the method tells which params there are. */
function call<Method extends string, Shape extends z.core.$ZodLooseShape>(method: Method, shape: Shape) {
  return z.looseObject({ method: z.literal(method), params: z.looseObject(shape) });
}

/** The notifications that we understand. */
export const CodexNotification = z.discriminatedUnion('method', [
  call('turn/started', { ...about, turn: z.looseObject({ id: z.string() }) }),
  call('turn/completed', {
    ...about,
    turn: z.looseObject({
      id: z.string(),
      status: z.string(),
      error: lenient(failure),
      durationMs: lenient(z.number()),
    }),
  }),
  call('turn/plan/updated', {
    ...about,
    explanation: word,
    plan: z.array(z.looseObject({ step: z.string(), status: z.string() })),
  }),
  call('item/started', { ...about, item: Item }),
  call('item/completed', { ...about, item: Item }),
  call('item/agentMessage/delta', { ...about, itemId: z.string(), delta: z.string() }),
  call('item/plan/delta', { ...about, itemId: z.string(), delta: z.string() }),
  call('item/reasoning/summaryTextDelta', { ...about, delta: z.string() }),
  call('item/reasoning/textDelta', { ...about, delta: z.string() }),
  call('item/reasoning/summaryPartAdded', about),
  call('item/commandExecution/outputDelta', { ...about, itemId: z.string(), delta: z.string() }),
  call('account/rateLimits/updated', { ...about, rateLimits: record }),
  call('item/mcpToolCall/progress', { ...about, itemId: z.string(), message: z.string() }),
  call('thread/tokenUsage/updated', {
    ...about,
    tokenUsage: z.looseObject({ total: tokens, last: tokens, modelContextWindow: lenient(z.number()) }),
  }),
  /** What it works towards by itself, one turn after another, as long as that is `active`. */
  call('thread/goal/updated', { ...about, goal: z.looseObject({ status: z.string() }) }),
  call('thread/goal/cleared', about),
  call('serverRequest/resolved', { ...about, requestId: z.union([z.string(), z.number()]) }),
  call('mcpServer/startupStatus/updated', { ...about, name: z.string(), status: z.string(), error: word }),
  call('error', { ...about, error: failure, willRetry: lenient(z.boolean()) }),
  call('warning', { ...about, message: z.string() }),
  call('guardianWarning', { ...about, message: z.string() }),
  call('configWarning', { ...about, summary: z.string(), details: word }),
]);
export type CodexNotification = z.infer<typeof CodexNotification>;

const approval = { threadId: word, itemId: z.string(), reason: word, availableDecisions: lenient(z.array(JsonValue)) };

const question = z.looseObject({
  id: z.string(),
  question: z.string(),
  header: word,
  options: lenient(z.array(z.looseObject({ label: z.string(), description: word }))),
});
export type CodexQuestion = z.infer<typeof question>;

const elicitation = z.looseObject({
  threadId: word,
  serverName: z.string(),
  mode: z.string(),
  message: z.string(),
  url: word,
  requestedSchema: lenient(JsonValue),
  _meta: z.catch(z.nullish(z.looseObject({ codex_approval_kind: word, tool_params: lenient(record) })), undefined),
});
export type CodexElicitation = z.infer<typeof elicitation>;

/** The requests that we serve. */
export const CodexRequest = z.discriminatedUnion('method', [
  call('item/commandExecution/requestApproval', {
    ...approval,
    command: word,
    cwd: word,
    commandActions: lenient(z.array(action)),
    networkApprovalContext: lenient(record),
  }),
  call('item/fileChange/requestApproval', { ...approval, grantRoot: word }),
  call('item/permissions/requestApproval', { ...approval, permissions: record }),
  call('item/tool/requestUserInput', { threadId: word, questions: z.array(question).check(z.minLength(1)) }),
  call('mcpServer/elicitation/request', elicitation.shape),
]);
export type CodexRequest = z.infer<typeof CodexRequest>;
