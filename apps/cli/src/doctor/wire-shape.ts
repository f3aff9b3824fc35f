import { type JsonObject, nearest } from '@concerto/base';
import { AgentCommand, KnownAgentMessage, valueAt, wireFault } from '@concerto/protocol';

type ShapeIssue = NonNullable<ReturnType<typeof KnownAgentMessage.safeParse>['error']>['issues'][number];

export type Fault = {
  /** The same for every line with this fault. */
  readonly key: string;
  readonly status: 'warn' | 'fail';
  readonly message: string;
  readonly help: string;
};

/** A message of each type as it should look. */
const examples: Readonly<Record<KnownAgentMessage['type'], string>> = {
  init_ack: '{"type":"init_ack","capabilities":["interrupt"]}',
  progress: '{"type":"progress","message":"reading","percent":10}',
  partial: '{"type":"partial","text":"The change "}',
  log: '{"type":"log","level":"info","message":"3 files"}',
  question: '{"type":"question","id":"q1","question":"Which branch?","options":["main","next"]}',
  approval: '{"type":"approval","id":"a1","description":"Delete 3 files","risk_level":"medium"}',
  result: '{"type":"result","text":"Done."}',
  error: '{"type":"error","message":"No such branch","code":"ENOENT"}',
  thought: '{"type":"thought","text":"The tests come first."}',
  message: '{"type":"message","id":"m1","text":"I will look at the tests."}',
  tool_call: '{"type":"tool_call","id":"t1","name":"Bash","args":{"command":"ls"},"kind":"execute"}',
  tool_output: '{"type":"tool_output","id":"t1","text":"a.ts"}',
  tool_result: '{"type":"tool_result","id":"t1","content":"a.ts","outcome":"ok"}',
  plan: '{"type":"plan","entries":[{"content":"Read","status":"completed"}]}',
  usage: '{"type":"usage","input_tokens":100,"output_tokens":20,"cost_usd":0.01}',
  ack: '{"type":"ack","in_reply_to":"interrupt","in_reply_to_id":"…"}',
};

const knownTypes = KnownAgentMessage.def.options.flatMap((option) => option.shape.type.def.values);
const commandTypes: ReadonlySet<string> = new Set(
  AgentCommand.def.options.flatMap((option) => option.shape.type.def.values),
);

/** Where a typed message leaves the shape its type has. */
export function shapeFaults(raw: JsonObject & { readonly type: string }): readonly Fault[] {
  const type = knownTypes.find((known) => known === raw.type);
  if (type === undefined) return unknownType(raw.type);
  const parsed = KnownAgentMessage.safeParse(raw);
  if (parsed.success) return [];
  return parsed.error.issues.map((issue) => fieldFault(raw, type, issue));
}

/** Any other type is the author's own; one that is nearly ours is a slip of the pen. */
function unknownType(type: string): readonly Fault[] {
  if (commandTypes.has(type)) {
    return [
      {
        key: `type ${type}`,
        status: 'warn',
        message: `\`${type}\` is what Concerto sends; from an agent it is a message of its own kind`,
        help: 'if the agent repeats its input on stdout, stop that; else choose another name',
      },
    ];
  }
  const meant = nearest(type, knownTypes);
  if (meant === undefined) return [];
  return [
    {
      key: `type ${type}`,
      status: 'warn',
      message: `\`${type}\` is no type of the wire, so it is handed to handlers of that name; did you mean \`${meant}\`?`,
      help: `write \`"type":"${meant}"\`, or give a message of your own a name that is less alike`,
    },
  ];
}

function fieldFault(raw: JsonObject, type: KnownAgentMessage['type'], issue: ShapeIssue): Fault {
  const path = issue.path.map(String);
  const field = path.join('.');
  const value = valueAt(raw, path);
  const fault = wireFault(raw, issue);
  const known =
    KnownAgentMessage.def.options.find((option) => option.shape.type.def.values.some((value) => value === type))
      ?.shape ?? {};
  const others = Object.keys(raw).filter((name) => !Object.hasOwn(known, name));
  const meant = value === undefined ? (nearest(field, others) ?? alias(others)) : undefined;
  const hint = meant === undefined ? '' : `; it has \`${meant}\``;
  return {
    key: `${type}.${field} ${issue.code}`,
    // Many languages write null for what is absent, and it is read so.
    status: value === null && path.length === 1 ? 'warn' : 'fail',
    message: `\`${type}\`: ${fault}${hint}`,
    help: value === null ? `leave \`${field}\` out, or send ${examples[type]}` : `send ${examples[type]}`,
  };
}

/** Names that authors give to the text of a message. */
function alias(names: readonly string[]): string | undefined {
  return names.find((name) =>
    /^(chunk|content|text|message|msg|prompt|question|description|title|body|data)$/i.test(name),
  );
}

export function shorten(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}
