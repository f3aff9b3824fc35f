/** A struct type the language has without a declaration. `error`: displays as its message, caught by `catch Error(e)`. */
export interface BuiltinStruct {
  readonly kind: 'struct' | 'error';
  /** The error type that also catches it. */
  readonly parent?: string;
  /** Field name to type; `?` at the end of the name: may be absent (None). */
  readonly fields: Readonly<Record<string, string>>;
  /** Fields that can be read but are not part of the display and JSON forms. */
  readonly hidden?: readonly string[];
  readonly help: string;
}

const errorFields = {
  kind: 'String',
  message: 'String',
  source: 'Any',
  code: 'Any',
  details: 'Any',
} as const;

const error = (help: string, parent?: string): BuiltinStruct =>
  parent === undefined
    ? { kind: 'error', fields: errorFields, help }
    : { kind: 'error', parent, fields: errorFields, help };

export const BUILTIN_STRUCTS = {
  // Errors. Each has `X::new(message)`.
  RuntimeError: error('A fault of the running program; catches every fault below it'),
  OverflowError: error('An Int left the range of ±(2^53 - 1)', 'RuntimeError'),
  DivisionError: error('Int division or remainder by zero', 'RuntimeError'),
  IndexError: error('An index outside the array or string', 'RuntimeError'),
  FieldError: error('A field the value does not have', 'RuntimeError'),
  TypeError: error('An operation on a value of the wrong type', 'RuntimeError'),
  CastError: error('A cast that has no value', 'RuntimeError'),
  MatchError: error('No arm of a match fits', 'RuntimeError'),
  UnwrapError: error('unwrap on None or Err', 'RuntimeError'),
  AssertionError: error('A failed assertion', 'RuntimeError'),
  LimitError: error('A limit of the VM: recursion depth, size of a value', 'RuntimeError'),
  TimeoutError: error('Something took longer than it may'),
  CancelledError: error('The work was cancelled'),
  AgentError: {
    kind: 'error',
    fields: { ...errorFields, agent: 'String' },
    help: 'An agent failed; kind: reported exited timeout spawn init protocol handler schema busy cancelled',
  },
  ModelError: error('A model call failed'),
  SchemaError: error('A value does not fit its schema'),
  ToolError: error('A tool failed'),
  ConnectionError: error('A provider could not be reached or refused'),
  PipelineError: error('A stage of a pipeline failed'),
  HashMapError: error('A key or value a hashmap does not take'),
  EmitError: error('No one answered an emit'),
  HttpError: error('An HTTP request failed'),
  IoError: error('A file could not be read or written'),
  // Plain structs
  Response: {
    kind: 'struct',
    fields: {
      text: 'String',
      tokens_in: 'Int',
      tokens_out: 'Int',
      model: 'String',
      provider: 'String',
      latency_ms: 'Int',
      cost: 'Any',
      tool_calls: 'Array<ToolCall>',
    },
    hidden: ['provider', 'latency_ms', 'cost', 'tool_calls'],
    help: 'What a model answered',
  },
  Message: { kind: 'struct', fields: { role: 'String', content: 'String' }, help: 'One entry of a memory' },
  ToolCall: {
    kind: 'struct',
    fields: { id: 'String', name: 'String', arguments: 'Any', result: 'Any' },
    help: 'A call of a tool by a model',
  },
  Prompt: {
    kind: 'struct',
    fields: { system: 'Any', context: 'Any', messages: 'Array<Message>' },
    help: 'A prompt built step by step',
  },
  LedgerEntry: {
    kind: 'struct',
    fields: { identifier: 'String', keys: 'Array<String>', value: 'Any' },
    help: 'One entry of a ledger',
  },
  HttpResponse: {
    kind: 'struct',
    fields: { status: 'Int', body: 'String', headers: 'Map<String, String>' },
    help: 'The answer to an HTTP request',
  },
  Emit: { kind: 'struct', fields: { channel: 'String', payload: 'Any' }, help: 'An emit a test captured' },
} as const satisfies Record<string, BuiltinStruct>;

export type BuiltinStructName = keyof typeof BUILTIN_STRUCTS;

/** Type names that need no declaration and how many type arguments they take. */
export const BUILTIN_TYPES = {
  Int: 0,
  Float: 0,
  String: 0,
  Bool: 0,
  Nil: 0,
  Any: 0,
  Array: 1,
  Map: 2,
  Option: 1,
  Result: 2,
  Range: 0,
  Set: 1,
  Queue: 1,
  Stack: 1,
  Error: 0,
  Function: 0,
  Tool: 0,
  Builder: 0,
  ModelRef: 0,
  AgentRef: 0,
  Session: 0,
  PipelineRef: 0,
  SchemaRef: 0,
  McpRef: 0,
  HashMapRef: 0,
  LedgerRef: 0,
  MemoryRef: 0,
  HashMap: 2,
  Ledger: 0,
  Memory: 0,
  Schema: 1,
} as const satisfies Record<string, number>;
