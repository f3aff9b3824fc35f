export type SignalFunction = {
  readonly name: string;
  readonly description?: string;
  /** A JSON schema of the arguments object. */
  readonly parameters?: Readonly<Record<string, unknown>>;
};

const protocol = `You write your answers in parts. Each part starts on a new line, at its beginning, with one of these signals:

§THINK: your private reasoning
§CALLS: the functions to call, as one JSON array
§EXECUTE: run the calls; nothing follows it
§RESPOND: what the user reads
§END: you are finished

Rules:
1. Start every part on a new line with its signal, spelled exactly so, in capitals and with the colon. No other line begins with § and one of these words.`;

const withFunctions = `2. After §CALLS: write §EXECUTE: on the next line and stop. The results come in the next message, in the order of the calls. Never write results yourself, and never write a line that begins with [SYSTEM:.
3. §CALLS: holds one JSON array and nothing else: [{"name": "...", "args": {...}}]. No code fence, no comments, no trailing comma. Inside a string write a new line as \\n.
4. To show a signal as text, put it in a code fence, or write its sign twice: §§END:.
5. When the task is done, write §RESPOND: and then §END:.`;

const withoutFunctions = `2. There are no functions to call: do not write §CALLS: or §EXECUTE:, and never write a line that begins with [SYSTEM:.
3. To show a signal as text, put it in a code fence, or write its sign twice: §§END:.
4. When the task is done, write §RESPOND: and then §END:.`;

/** The text that teaches a model the protocol, with the functions it may call. */
export function signalsSystemPrompt(functions: readonly SignalFunction[]): string {
  const [first] = functions;
  if (first === undefined) {
    return `${protocol}\n${withoutFunctions}\n\nExample:\n\n§THINK: The user greets me.\n§RESPOND: Hello!\n§END:\n`;
  }
  const list = functions.map(describe).join('\n\n');
  const call = JSON.stringify([{ name: first.name, args: exampleArguments(first.parameters) }]);
  const example = `§THINK: I need ${first.name} before I can answer.\n§CALLS: ${call}\n§EXECUTE:`;
  const after = '§RESPOND: Here is what I found.\n§END:';
  return `${protocol}\n${withFunctions}\n\nFunctions:\n\n${list}\n\nExample, with the result arriving in between:\n\n${example}\n\n${after}\n`;
}

function describe(definition: SignalFunction): string {
  const lines = [`- ${definition.name}`];
  if (definition.description !== undefined) lines.push(indent(definition.description.trim()));
  const schema = definition.parameters ?? { type: 'object', properties: {} };
  lines.push(`  args: ${JSON.stringify(schema)}`);
  return lines.join('\n');
}

/** No line of a description may begin with a sign at its start, or a model would copy it as a signal. */
function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `    ${line.trimStart()}`)
    .join('\n');
}

/** Required arguments by example, so that the one call the prompt shows has the right shape. */
function exampleArguments(schema: SignalFunction['parameters']): Record<string, unknown> {
  const properties = schema?.['properties'];
  const required = schema?.['required'];
  const example: Record<string, unknown> = {};
  if (!isRecord(properties) || !Array.isArray(required)) return example;
  for (const key of required) {
    if (typeof key === 'string') example[key] = exampleValue(properties[key]);
  }
  return example;
}

function exampleValue(schema: unknown): unknown {
  if (!isRecord(schema)) return '...';
  if ('const' in schema) return schema['const'];
  if (Array.isArray(schema['enum']) && schema['enum'].length > 0) return schema['enum'][0];
  switch (schema['type']) {
    case 'number':
    case 'integer':
      return 1;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return exampleArguments(schema);
    case 'null':
      return null;
    default:
      return '...';
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
