import type { BuiltinSpec } from './builtins.ts';

/** Functions that need no path, and functions in the namespace of a built-in type. */
export const FUNCTIONS = {
  emit: {
    signature: 'fn<T>(channel: String, payload?: Any) -> Nil',
    effect: true,
    help: 'Sends a value to whoever listens on the channel',
  },
  print: { signature: 'fn(...values: Any) -> Nil', effect: true, help: 'Writes values separated by blanks' },
  println: {
    signature: 'fn(...values: Any) -> Nil',
    effect: true,
    help: 'Writes values separated by blanks, and ends the line',
  },
  env: { signature: 'fn(name: String) -> Any', effect: true, help: 'The environment variable, nil when unset' },
  len: {
    signature: 'fn(value: Any) -> Int',
    help: 'Length of a string (in characters), array, map, range or collection',
  },
  typeof: { signature: 'fn(value: Any) -> String', help: 'The name of the value’s type' },
  panic: { signature: 'fn(message?: Any) -> Nil', effect: true, help: 'Ends the program; cannot be caught' },
  Ok: { signature: 'fn<T, E>(value?: T) -> Result<T, E>', help: 'A success' },
  Err: { signature: 'fn<T, E>(error: E) -> Result<T, E>', help: 'A failure' },
  Some: { signature: 'fn<T>(value: T) -> Option<T>', help: 'A present value' },
  assert: { signature: 'fn(condition: Any, message?: Any) -> Nil', help: 'Fails unless the condition holds' },
  assert_eq: {
    signature: 'fn(left: Any, right: Any, message?: Any) -> Nil',
    help: 'Fails unless both are equal, and shows the difference',
  },
  assert_ne: { signature: 'fn(left: Any, right: Any, message?: Any) -> Nil', help: 'Fails when both are equal' },
  test_emits: { signature: 'fn() -> Array<Emit>', help: 'What this test has emitted so far' },
  mock_calls: { signature: 'fn(target: Any) -> Array<Any>', help: 'What a mocked model or agent was sent so far' },
  flush_emits: { signature: 'fn() -> Nil', effect: true, help: 'Waits until every emit has been delivered' },
  sleep: {
    signature: 'fn(time: Any) -> Nil',
    effect: true,
    help: 'Waits, for days if need be: `"3d"`, `"1h 30m"`, `"500ms"`, or a number of milliseconds',
  },
  now: {
    signature: 'fn() -> Int',
    effect: true,
    help: 'Milliseconds since 1970; `std::time::now()` is the same as text',
  },
  every: {
    signature: 'fn(time: Any, f: fn(Int) -> Any) -> Int',
    effect: true,
    help: 'Calls f at once and then every time, with how often it was called before; ends when f gives `false`',
  },
  parse_schema: {
    signature: 'fn<T>(value: Any) -> Result<T, SchemaError>',
    typeArguments: true,
    help: 'Checks JSON text or a value against a schema',
  },

  // Used by compiled code; not reachable by name.
  $ask: {
    signature: 'fn(channel: String, payload?: Any) -> Any',
    effect: true,
    help: '`await emit`: waits for the answer',
  },
  $duration: { signature: 'fn(time: Any) -> Int', help: 'A length of time in milliseconds' },
  $mock: { signature: 'fn(target: Any, config: Map<String, Any>) -> Nil', help: 'The mock statement' },
  $cast_schema: {
    signature: 'fn<T>(value: Any) -> T',
    typeArguments: true,
    help: 'A value checked against a schema, a fault otherwise',
  },

  'Message::system': { signature: 'fn(content: String) -> Message', help: 'A message with role system' },
  'Message::user': { signature: 'fn(content: String) -> Message', help: 'A message with role user' },
  'Message::assistant': { signature: 'fn(content: String) -> Message', help: 'A message with role assistant' },
  'Prompt::new': { signature: 'fn(text?: String) -> Prompt', help: 'An empty prompt, or one with a user message' },
  'HashMap::new': { signature: 'fn<K, V>() -> HashMap<K, V>', help: 'A new key-value store' },
  'HashMap::with_persistence': {
    signature: 'fn<K, V>(path: String) -> HashMap<K, V>',
    effect: true,
    help: 'A key-value store kept in a JSON file: read now, written after each change',
  },
  'Ledger::new': { signature: 'fn() -> Ledger', help: 'A new ledger' },
  'Memory::new': {
    signature: 'fn(max_messages?: Int) -> Memory',
    help: 'A new memory; keeps the last messages when given a number',
  },

  'Error::new': { signature: 'fn(message: Any, source?: Any) -> RuntimeError', help: 'An error with this message' },
  'RuntimeError::new': {
    signature: 'fn(message: Any, source?: Any) -> RuntimeError',
    help: 'An error with this message',
  },
  'TimeoutError::new': {
    signature: 'fn(message: Any, source?: Any) -> TimeoutError',
    help: 'An error with this message',
  },
  'AgentError::new': { signature: 'fn(message: Any, source?: Any) -> AgentError', help: 'An error with this message' },
  'ModelError::new': { signature: 'fn(message: Any, source?: Any) -> ModelError', help: 'An error with this message' },
  'SchemaError::new': {
    signature: 'fn(message: Any, source?: Any) -> SchemaError',
    help: 'An error with this message',
  },
  'ToolError::new': { signature: 'fn(message: Any, source?: Any) -> ToolError', help: 'An error with this message' },
  'ConnectionError::new': {
    signature: 'fn(message: Any, source?: Any) -> ConnectionError',
    help: 'An error with this message',
  },
  'PipelineError::new': {
    signature: 'fn(message: Any, source?: Any) -> PipelineError',
    help: 'An error with this message',
  },
  'HashMapError::new': {
    signature: 'fn(message: Any, source?: Any) -> HashMapError',
    help: 'An error with this message',
  },
  'EmitError::new': { signature: 'fn(message: Any, source?: Any) -> EmitError', help: 'An error with this message' },
} as const satisfies Record<string, BuiltinSpec>;
