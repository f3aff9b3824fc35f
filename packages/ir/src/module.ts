import { err, type Json, ok, type Result } from '@concerto/base';
import * as z from 'zod';
import { validateModule } from './validate.ts';

/** Raised by an incompatible change of the opcodes or of this format; a module of another version is refused. */
export const IR_VERSION = 1;

const json: z.ZodType<Json> = z.json();
const index = z.int().min(0);
const name = z.string().min(1);

/** What `LoadConst` can load. `type` is a type in text (`Array<Report>`), for casts, schemas and catch clauses. */
const constant = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('nil') }),
  z.strictObject({ kind: z.literal('bool'), value: z.boolean() }),
  z.strictObject({ kind: z.literal('int'), value: z.int() }),
  z.strictObject({ kind: z.literal('float'), value: z.number() }),
  z.strictObject({ kind: z.literal('string'), value: z.string() }),
  z.strictObject({ kind: z.literal('type'), value: name }),
  z.strictObject({ kind: z.literal('function'), index }),
  z.strictObject({ kind: z.literal('builtin'), name }),
  z.strictObject({
    kind: z.enum(['model', 'agent', 'pipeline', 'schema', 'hashmap', 'ledger', 'memory', 'mcp', 'session']),
    /** The declared name; the VM finds the declaration by it. */
    name,
  }),
]);

const functionSchema = z.strictObject({
  /** As in stack traces: `main`, `Point::norm`, `main::{closure}`. */
  name,
  params: z.array(z.strictObject({ name, type: z.string().optional() })),
  /** How many parameters have no default; all of them when absent. */
  required: index.optional(),
  /** How many values a closure of it captures. */
  captures: index,
  registers: index,
  /** Its first parameter is `mut self`: the caller writes register 0 back. */
  mutSelf: z.boolean().optional(),
  async: z.boolean().optional(),
  returns: z.string().optional(),
  /** Index into `files`. */
  file: index.optional(),
  code: z.array(z.int()),
  handlers: z.array(z.strictObject({ start: index, end: index, target: index, register: index })),
  /** Source map, flat: offset, line, column, … with ascending offsets. */
  positions: z.array(z.int()),
});

const field = z.strictObject({
  name,
  type: z.string(),
  optional: z.boolean().optional(),
  /** A constant default as JSON; other defaults are compiled into the literal. */
  default: json.optional(),
  description: z.string().optional(),
  /** Of `@validate`: what a value that comes from outside must satisfy. */
  rules: z
    .strictObject({
      min: z.number().optional(),
      max: z.number().optional(),
      min_length: z.number().optional(),
      max_length: z.number().optional(),
      /** A regular expression that the whole text matches. */
      pattern: z.string().optional(),
      /** Said instead of what the rule would say. */
      message: z.string().optional(),
    })
    .optional(),
});

/** `tool`: a struct whose one instance is the module variable of its name. `error`: displays as its `message`. */
const structSchema = z.strictObject({
  name,
  kind: z.enum(['struct', 'schema', 'tool', 'error']),
  /** Type parameters, as the types of the fields name them. */
  params: z.array(name).optional(),
  /** How values from outside become it: `coerce` reads numbers out of texts, `strict` refuses further fields. */
  modes: z.array(z.enum(['coerce', 'strict'])).optional(),
  fields: z.array(field),
});

const enumSchema = z.strictObject({
  name,
  variants: z.array(
    z.strictObject({
      name,
      /** Field names of a struct variant; absent for a tuple or unit variant. */
      fields: z.array(name).optional(),
      /** How many values it carries. */
      size: index,
      types: z.array(z.string()).optional(),
    }),
  ),
});

const decorator = z.strictObject({ name, args: z.array(json), named: z.record(z.string(), json) });

const modelSchema = z.strictObject({
  name,
  connection: z.string(),
  /** `base`, `temperature`, `max_tokens`, `system_prompt`, `timeout`, `top_p`, `stop_sequences` … as constants. */
  config: z.record(z.string(), json),
  /** Tools and MCP servers by name. */
  tools: z.array(name),
  memory: name.optional(),
  decorators: z.array(decorator),
});

const toolSchema = z.strictObject({
  name,
  description: z.string(),
  struct: index,
  /** The module variable that holds its one instance. */
  global: index,
  methods: z.array(
    z.strictObject({
      name,
      description: z.string(),
      function: index,
      /** False for a method without `self`. */
      self: z.boolean(),
      params: z.array(field),
      /** JSON Schema of the arguments. */
      parameters: json,
      decorators: z.array(decorator),
    }),
  ),
});

const agentSchema = z.strictObject({
  name,
  connector: z.string(),
  /** What the declaration says; it wins over the manifest. */
  config: z.record(z.string(), json),
  decorators: z.array(decorator),
  /** The manifest's `[agents.NAME]` table as it was when the program was compiled, so that it runs without it. */
  manifest: z.record(z.string(), json).optional(),
  /** `[agents.NAME.params]`, sent as `init`; absent when there are none. */
  params: z.record(z.string(), json).optional(),
});

const mcpSchema = z.strictObject({
  name,
  config: z.record(z.string(), json),
  tools: z.array(
    z.strictObject({
      name,
      description: z.string().optional(),
      parameters: json,
      returns: z.string().optional(),
      /** Of `@permission`; absent means `allow`. */
      permission: z.enum(['allow', 'ask', 'deny']).optional(),
    }),
  ),
});

/** A `listen`: its handlers are closures, passed in this order in the window of `ListenBegin`. */
const listenSchema = z.strictObject({
  /** `$listen_0` … as `listen:start` shows it. */
  name,
  method: z.string(),
  /** `execute_with_schema<T>` or `as T`: the type the result is checked against. */
  result: z.string().optional(),
  handlers: z.array(
    z.strictObject({
      /** Message types; `_` for the rest. */
      keys: z.array(name).min(1),
      /** How many parameters the closure has: 0 or 1. */
      params: z.int().min(0).max(1),
      type: z.string().optional(),
      /** Runs beside the `listen`, which goes on with the next message. */
      parallel: z.boolean().optional(),
    }),
  ),
});

const pipelineSchema = z.strictObject({
  name,
  input: z.string().optional(),
  output: z.string().optional(),
  stages: z.array(
    z.strictObject({
      name,
      /** `chained` gets the last stage's value; `named` gets the input and the values of all earlier stages. */
      form: z.enum(['chained', 'named']),
      function: index,
      input: z.string().optional(),
      output: z.string().optional(),
      decorators: z.array(decorator),
    }),
  ),
});

const testSchema = z.strictObject({
  description: z.string(),
  function: index,
  file: index.optional(),
  line: index.optional(),
  /** Present: the test must fail; a text must occur in the failure. */
  expectFail: z.strictObject({ message: z.string().optional() }).optional(),
});

/** A function with `@supervisor`; `function` takes nothing and calls it with the session that is supervised. */
const supervisorSchema = z.strictObject({ name, function: index });

const moduleSchema = z.strictObject({
  format: z.literal('conc-ir'),
  version: z.literal(IR_VERSION),
  name,
  /** Source files by index, relative to the project. */
  files: z.array(z.string()),
  /** Runs first: module variables, tools' instances, top-level statements. */
  init: index.optional(),
  main: index.optional(),
  constants: z.array(constant),
  functions: z.array(functionSchema),
  /** Names of the built-in rows that `CallBuiltin` uses, by operand. */
  builtins: z.array(name),
  globals: z.array(z.strictObject({ name })),
  structs: z.array(structSchema),
  enums: z.array(enumSchema),
  /** Type name (also `Int`, `Array`, a model's or tool's name) to method name to function, traits' defaults included. */
  methods: z.record(z.string(), z.record(z.string(), index)),
  /** Type name to the names of the traits it implements. */
  traits: z.record(z.string(), z.array(name)),
  /** `type X = …` and string-literal unions by name, for schemas. */
  aliases: z.record(z.string(), z.string()),
  models: z.array(modelSchema),
  tools: z.array(toolSchema),
  agents: z.array(agentSchema),
  mcp: z.array(mcpSchema),
  hashmaps: z.array(z.strictObject({ name, key: z.string(), value: z.string() })),
  ledgers: z.array(z.strictObject({ name })),
  memories: z.array(z.strictObject({ name, maxMessages: z.int().positive().optional() })),
  listens: z.array(listenSchema),
  pipelines: z.array(pipelineSchema),
  tests: z.array(testSchema),
  supervisors: z.array(supervisorSchema).optional(),
  /** `[connections.*]` and whatever else of the manifest the runtime needs, without secrets. */
  manifest: z.record(z.string(), json).optional(),
});

export type IrModule = z.infer<typeof moduleSchema>;
export type IrFunction = z.infer<typeof functionSchema>;
export type IrConstant = z.infer<typeof constant>;
export type IrStruct = z.infer<typeof structSchema>;
export type IrEnum = z.infer<typeof enumSchema>;
export type IrField = z.infer<typeof field>;
export type IrDecorator = z.infer<typeof decorator>;
export type IrModel = z.infer<typeof modelSchema>;
export type IrTool = z.infer<typeof toolSchema>;
export type IrAgent = z.infer<typeof agentSchema>;
export type IrMcp = z.infer<typeof mcpSchema>;
export type IrListen = z.infer<typeof listenSchema>;
export type IrPipeline = z.infer<typeof pipelineSchema>;
export type IrSupervisor = z.infer<typeof supervisorSchema>;
export type IrTest = z.infer<typeof testSchema>;

/** The name of the session that a supervisor answers for; nothing that a program declares has it. */
export const SUPERVISED = ':session';

/** A module with every table empty, for builders. */
export function emptyModule(moduleName: string): IrModule {
  return {
    format: 'conc-ir',
    version: IR_VERSION,
    name: moduleName,
    files: [],
    constants: [],
    functions: [],
    builtins: [],
    globals: [],
    structs: [],
    enums: [],
    methods: {},
    traits: {},
    aliases: {},
    models: [],
    tools: [],
    agents: [],
    mcp: [],
    hashmaps: [],
    ledgers: [],
    memories: [],
    listens: [],
    pipelines: [],
    tests: [],
  };
}

/** Reads the text of a `.conc-ir` file. The error is one line for a person. */
export function parseModule(text: string): Result<IrModule, string> {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (cause) {
    return err(`not a compiled program: ${cause instanceof Error ? cause.message : 'bad JSON'}`);
  }
  return checkModule(data);
}

/** Checks the shape, then every index, jump and register. */
export function checkModule(data: unknown): Result<IrModule, string> {
  const version = headerVersion(data);
  if (version === undefined) return err('not a compiled program: the header is missing');
  if (version !== IR_VERSION) {
    return err(
      `the program was compiled for version ${JSON.stringify(version)}; this is version ${IR_VERSION}: compile it again`,
    );
  }
  const parsed = moduleSchema.safeParse(data);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return err(`damaged program at ${issue?.path.join('.') ?? '?'}: ${issue?.message ?? 'unknown'}`);
  }
  const problem = validateModule(parsed.data);
  return problem === undefined ? ok(parsed.data) : err(problem);
}

export function formatModule(module: IrModule): string {
  return `${JSON.stringify(module)}\n`;
}

function headerVersion(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || !('format' in data) || data.format !== 'conc-ir') return undefined;
  return 'version' in data ? data.version : undefined;
}
