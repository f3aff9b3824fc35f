import type { BuiltinSpec } from './builtins.ts';

/** Methods of models, agents, builders, pipelines, stores and prompts. */
export const WORLD_METHODS = {
  'ModelRef.execute': {
    signature: 'fn(self: ModelRef, prompt: Any) -> Result<Response, ModelError>',
    effect: true,
    help: 'Asks the model',
  },
  'ModelRef.chat': {
    signature: 'fn(self: ModelRef, messages: Any) -> Result<Response, ModelError>',
    effect: true,
    help: 'Asks with a list of messages',
  },
  'ModelRef.stream': {
    signature: 'fn(self: ModelRef, prompt: Any, on_chunk?: fn(String) -> Any) -> Result<Response, ModelError>',
    effect: true,
    help: 'Asks, and calls on_chunk with each piece of text',
  },
  'ModelRef.execute_with_schema': {
    signature: 'fn<T>(self: ModelRef, prompt: Any) -> Result<T, SchemaError>',
    effect: true,
    typeArguments: true,
    help: 'Asks for a value of a schema; tries again when it does not fit',
  },
  'ModelRef.with_memory': {
    signature: 'fn(self: ModelRef, memory: MemoryRef, auto?: Bool) -> Builder',
    help: 'With the messages of a memory; auto false: do not add to it',
  },
  'ModelRef.with_tools': {
    signature: 'fn(self: ModelRef, tools: Array<Any>) -> Builder',
    help: 'With these tools and MCP servers',
  },
  'ModelRef.without_tools': { signature: 'fn(self: ModelRef) -> Builder', help: 'Without the declared tools' },
  'ModelRef.with_context': {
    signature: 'fn(self: ModelRef, context: Any) -> Builder',
    help: 'With a context before the prompt',
  },
  'ModelRef.with_system': {
    signature: 'fn(self: ModelRef, text: String) -> Builder',
    help: 'With another system prompt',
  },
  'ModelRef.with_temperature': {
    signature: 'fn(self: ModelRef, temperature: Float) -> Builder',
    help: 'With another temperature',
  },
  'ModelRef.with_timeout': { signature: 'fn(self: ModelRef, seconds: Int) -> Builder', help: 'With a limit of time' },

  'AgentRef.execute': {
    signature: 'fn(self: AgentRef, prompt: Any) -> Result<String, AgentError>',
    effect: true,
    help: 'Sends a prompt, and waits for the result',
  },
  'AgentRef.execute_with_schema': {
    signature: 'fn<T>(self: AgentRef, prompt: Any) -> Result<T, AgentError>',
    effect: true,
    typeArguments: true,
    help: 'The result as a value of a schema',
  },
  'AgentRef.with_memory': {
    signature: 'fn(self: AgentRef, memory: MemoryRef, auto?: Bool) -> Builder',
    help: 'Adds the prompt and the result to a memory',
  },
  'AgentRef.with_context': {
    signature: 'fn(self: AgentRef, context: Any) -> Builder',
    help: 'With a context beside the prompt',
  },
  'AgentRef.with_tools': {
    signature: 'fn(self: AgentRef, tools: Array<Any>) -> Builder',
    help: 'Accepted; an agent brings its own tools',
  },
  'AgentRef.without_tools': {
    signature: 'fn(self: AgentRef) -> Builder',
    help: 'Accepted; an agent brings its own tools',
  },
  'AgentRef.with_timeout': {
    signature: 'fn(self: AgentRef, seconds: Int) -> Builder',
    help: 'With another limit for the whole session',
  },
  'AgentRef.capabilities': {
    signature: 'fn(self: AgentRef) -> Array<String>',
    effect: true,
    help: 'What it announced at its start; starts it when it was not started yet',
  },
  'AgentRef.version': {
    signature: 'fn(self: AgentRef) -> Option<String>',
    effect: true,
    help: 'The version it announced at its start; starts it when it was not started yet',
  },
  'AgentRef.shutdown': { signature: 'fn(self: AgentRef) -> Nil', effect: true, help: 'Ends the agent’s process' },
  'AgentRef.session': {
    signature: 'fn(self: AgentRef) -> Session',
    help: 'The session that it works in, in a server',
  },

  'Session.id': { signature: 'fn(self: Session) -> String', effect: true, help: 'Its id' },
  'Session.status': {
    signature: 'fn(self: Session) -> String',
    effect: true,
    help: 'What it does: `running`, `idle`, …',
  },
  'Session.usage': {
    signature: 'fn(self: Session) -> Map<String, Any>',
    effect: true,
    help: 'What it has used: `input_tokens`, `output_tokens`, and `cost_usd` where it is known',
  },
  'Session.steer': {
    signature: 'fn(self: Session, text: String) -> Nil',
    effect: true,
    help: 'Says something to the agent while it works',
  },
  'Session.pause': { signature: 'fn(self: Session) -> Nil', effect: true, help: 'Holds it until it is resumed' },
  'Session.resume': { signature: 'fn(self: Session) -> Nil', effect: true, help: 'Lets it go on' },
  'Session.interrupt': { signature: 'fn(self: Session) -> Nil', effect: true, help: 'Ends the turn that runs' },

  'Builder.execute': {
    signature: 'fn(self: Builder, prompt: Any) -> Result<Any, Any>',
    effect: true,
    help: 'Asks the model or agent',
  },
  'Builder.chat': {
    signature: 'fn(self: Builder, messages: Any) -> Result<Response, ModelError>',
    effect: true,
    help: 'Asks with a list of messages',
  },
  'Builder.stream': {
    signature: 'fn(self: Builder, prompt: Any, on_chunk?: fn(String) -> Any) -> Result<Response, ModelError>',
    effect: true,
    help: 'Asks, and calls on_chunk with each piece of text',
  },
  'Builder.execute_with_schema': {
    signature: 'fn<T>(self: Builder, prompt: Any) -> Result<T, Any>',
    effect: true,
    typeArguments: true,
    help: 'Asks for a value of a schema',
  },
  'Builder.with_memory': {
    signature: 'fn(self: Builder, memory: MemoryRef, auto?: Bool) -> Builder',
    help: 'With a memory',
  },
  'Builder.with_tools': {
    signature: 'fn(self: Builder, tools: Array<Any>) -> Builder',
    help: 'With these tools and MCP servers',
  },
  'Builder.without_tools': { signature: 'fn(self: Builder) -> Builder', help: 'Without the declared tools' },
  'Builder.with_context': { signature: 'fn(self: Builder, context: Any) -> Builder', help: 'With a context' },
  'Builder.with_system': {
    signature: 'fn(self: Builder, text: String) -> Builder',
    help: 'With another system prompt',
  },
  'Builder.with_temperature': {
    signature: 'fn(self: Builder, temperature: Float) -> Builder',
    help: 'With another temperature',
  },
  'Builder.with_timeout': { signature: 'fn(self: Builder, seconds: Int) -> Builder', help: 'With a limit of time' },

  'PipelineRef.run': {
    signature: 'fn(self: PipelineRef, input?: Any) -> Result<Any, PipelineError>',
    effect: true,
    help: 'Runs the stages one after another',
  },
  'McpRef.call': {
    signature: 'fn(self: McpRef, tool: String, arguments?: Map<String, Any>) -> Result<Any, ToolError>',
    effect: true,
    help: 'Calls a tool of the server',
  },
  'McpRef.tools': {
    signature: 'fn(self: McpRef) -> Result<Array<Any>, ToolError>',
    effect: true,
    help: 'The tools the server has',
  },
  'SchemaRef.parse': {
    signature: 'fn(self: SchemaRef, value: Any) -> Result<Any, SchemaError>',
    help: 'Checks JSON text or a value',
  },
  'SchemaRef.json_schema': { signature: 'fn(self: SchemaRef) -> Map<String, Any>', help: 'As JSON Schema' },

  'MemoryRef.append': { signature: 'fn(self: MemoryRef, role: String, content: Any) -> Nil', help: 'Adds a message' },
  'MemoryRef.messages': { signature: 'fn(self: MemoryRef) -> Array<Message>', help: 'All messages' },
  'MemoryRef.last': { signature: 'fn(self: MemoryRef, count: Int) -> Array<Message>', help: 'The last messages' },
  'MemoryRef.len': { signature: 'fn(self: MemoryRef) -> Int', help: 'Number of messages' },
  'MemoryRef.is_empty': { signature: 'fn(self: MemoryRef) -> Bool', help: 'Whether there are none' },
  'MemoryRef.clear': { signature: 'fn(self: MemoryRef) -> Nil', help: 'Forgets everything' },

  'HashMapRef.set': { signature: 'fn(self: HashMapRef, key: Any, value: Any) -> Nil', help: 'Sets the value of key' },
  'HashMapRef.with_persistence': {
    signature: 'fn(self: HashMapRef, path: String) -> HashMapRef',
    effect: true,
    help: 'Itself, kept in a JSON file: read now, written after each change',
  },
  'HashMapRef.get': { signature: 'fn(self: HashMapRef, key: Any) -> Option<Any>', help: 'The value of key' },
  'HashMapRef.get_or': {
    signature: 'fn(self: HashMapRef, key: Any, other: Any) -> Any',
    help: 'The value of key, or other',
  },
  'HashMapRef.has': { signature: 'fn(self: HashMapRef, key: Any) -> Bool', help: 'Whether key is there' },
  'HashMapRef.delete': {
    signature: 'fn(self: HashMapRef, key: Any) -> Bool',
    help: 'Removes key; whether it was there',
  },
  'HashMapRef.keys': { signature: 'fn(self: HashMapRef) -> Array<Any>', help: 'Keys in order of insertion' },
  'HashMapRef.values': { signature: 'fn(self: HashMapRef) -> Array<Any>', help: 'Values in order of insertion' },
  'HashMapRef.entries': { signature: 'fn(self: HashMapRef) -> Array<(Any, Any)>', help: 'Pairs of key and value' },
  'HashMapRef.len': { signature: 'fn(self: HashMapRef) -> Int', help: 'Number of entries' },
  'HashMapRef.is_empty': { signature: 'fn(self: HashMapRef) -> Bool', help: 'Whether it has no entries' },
  'HashMapRef.clear': { signature: 'fn(self: HashMapRef) -> Nil', help: 'Removes all entries' },
  'HashMapRef.set_many': {
    signature: 'fn(self: HashMapRef, entries: Map<Any, Any>) -> Nil',
    help: 'Sets all entries of a map',
  },
  'HashMapRef.get_many': {
    signature: 'fn(self: HashMapRef, keys: Array<Any>) -> Array<Any>',
    help: 'Option of each key',
  },
  'HashMapRef.query': {
    signature: 'fn(self: HashMapRef, f: fn(Any, Any) -> Bool) -> Array<(Any, Any)>',
    help: 'Entries for which f holds',
  },
  'HashMapRef.find': {
    signature: 'fn(self: HashMapRef, f: fn(Any, Any) -> Bool) -> Option<(Any, Any)>',
    help: 'The first entry for which f holds',
  },
  'HashMapRef.any': {
    signature: 'fn(self: HashMapRef, f: fn(Any, Any) -> Bool) -> Bool',
    help: 'Whether f holds for one entry',
  },
  'HashMapRef.all': {
    signature: 'fn(self: HashMapRef, f: fn(Any, Any) -> Bool) -> Bool',
    help: 'Whether f holds for all entries',
  },
  'HashMapRef.count': {
    signature: 'fn(self: HashMapRef, f: fn(Any, Any) -> Bool) -> Int',
    help: 'For how many entries f holds',
  },
  'HashMapRef.on_change': {
    signature: 'fn(self: HashMapRef, key: Any, f: fn(Any, Any) -> Any) -> Nil',
    help: 'Calls f with the old and the new value when key changes; nil for none',
  },
  'HashMapRef.on_any_change': {
    signature: 'fn(self: HashMapRef, f: fn(Any, Any, Any) -> Any) -> Nil',
    help: 'Calls f with key, old and new value when any key changes; nil for none',
  },
  'HashMapRef.scope': {
    signature: 'fn(self: HashMapRef, prefix: String) -> HashMapRef',
    help: 'An independent store of that name',
  },

  'LedgerRef.insert': {
    signature: 'fn(self: LedgerRef, identifier: String, keys: Any, value: Any) -> Nil',
    help: 'Adds or replaces an entry',
  },
  'LedgerRef.query': { signature: 'fn(self: LedgerRef) -> LedgerRef', help: 'Itself, for chaining' },
  'LedgerRef.from_identifier': {
    signature: 'fn(self: LedgerRef, text: String) -> Array<LedgerEntry>',
    help: 'Entries whose identifier has every word',
  },
  'LedgerRef.from_key': {
    signature: 'fn(self: LedgerRef, key: String) -> Array<LedgerEntry>',
    help: 'Entries with the key',
  },
  'LedgerRef.from_any_keys': {
    signature: 'fn(self: LedgerRef, keys: Array<String>) -> Array<LedgerEntry>',
    help: 'Entries with one of the keys',
  },
  'LedgerRef.from_exact_keys': {
    signature: 'fn(self: LedgerRef, keys: Array<String>) -> Array<LedgerEntry>',
    help: 'Entries with all of the keys',
  },
  'LedgerRef.update': {
    signature: 'fn(self: LedgerRef, identifier: String, value: Any) -> Bool',
    help: 'Replaces a value; whether it was there',
  },
  'LedgerRef.update_keys': {
    signature: 'fn(self: LedgerRef, identifier: String, keys: Any) -> Bool',
    help: 'Replaces keys; whether it was there',
  },
  'LedgerRef.delete': {
    signature: 'fn(self: LedgerRef, identifier: String) -> Bool',
    help: 'Removes an entry; whether it was there',
  },
  'LedgerRef.len': { signature: 'fn(self: LedgerRef) -> Int', help: 'Number of entries' },
  'LedgerRef.is_empty': { signature: 'fn(self: LedgerRef) -> Bool', help: 'Whether it has no entries' },
  'LedgerRef.clear': { signature: 'fn(self: LedgerRef) -> Nil', help: 'Removes all entries' },
  'LedgerRef.entries': { signature: 'fn(self: LedgerRef) -> Array<LedgerEntry>', help: 'All entries' },
  'LedgerRef.identifiers': { signature: 'fn(self: LedgerRef) -> Array<String>', help: 'All identifiers' },
  'LedgerRef.scope': {
    signature: 'fn(self: LedgerRef, prefix: String) -> LedgerRef',
    help: 'An independent ledger of that name',
  },

  'Prompt.with_system': { signature: 'fn(self: Prompt, text: String) -> Prompt', help: 'With a system text' },
  'Prompt.with_context': { signature: 'fn(self: Prompt, context: Any) -> Prompt', help: 'With a context' },
  'Prompt.with_user': { signature: 'fn(self: Prompt, text: String) -> Prompt', help: 'With a user message' },
  'Prompt.with_assistant': { signature: 'fn(self: Prompt, text: String) -> Prompt', help: 'With an assistant message' },
  'Prompt.with_message': { signature: 'fn(self: Prompt, message: Message) -> Prompt', help: 'With a message' },
} as const satisfies Record<string, BuiltinSpec>;
