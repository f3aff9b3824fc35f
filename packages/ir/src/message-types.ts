/** What an agent may send, or a session reports, by the type of the message: what is known of its fields. */
export interface MessageType {
  /** The built-in type a handler may name: `|q: Question|`. Its values are maps, with whatever else the agent sent. */
  readonly type?: string;
  /** Field name to type; `?` at the end of the name: may be absent. */
  readonly fields: Readonly<Record<string, string>>;
  readonly help: string;
}

export const MESSAGE_TYPES = {
  question: {
    type: 'Question',
    fields: {
      type: 'String',
      'id?': 'Any',
      question: 'String',
      'context?': 'Any',
      'options?': 'Any',
      'multiple?': 'Any',
    },
    help: 'The agent asks; the value of the handler is the answer',
  },
  approval: {
    type: 'Approval',
    fields: {
      type: 'String',
      'id?': 'Any',
      description: 'String',
      'risk_level?': 'Any',
      'tool?': 'Any',
      'kind?': 'Any',
      'command?': 'Any',
      'paths?': 'Any',
      'server?': 'Any',
      'changes?': 'Any',
      'call?': 'Any',
      'input?': 'Any',
      'options?': 'Any',
      'context?': 'Any',
    },
    help: 'The agent asks for permission; `true` or `false` is the answer',
  },
  progress: {
    type: 'Progress',
    fields: { type: 'String', message: 'String', 'percent?': 'Any', 'stage?': 'Any' },
    help: 'How far it is: `message`, and maybe `percent` and `stage`',
  },
  partial: {
    type: 'Partial',
    fields: { type: 'String', text: 'String' },
    help: 'A piece of the text it writes: `text`',
  },
  log: {
    type: 'Log',
    fields: { type: 'String', 'level?': 'Any', message: 'String' },
    help: 'A line for the log: `level` and `message`',
  },
  tool_call: {
    type: 'ToolCall',
    fields: {
      type: 'String',
      'id?': 'Any',
      name: 'String',
      'args?': 'Any',
      'title?': 'Any',
      'kind?': 'Any',
      'locations?': 'Any',
      'changes?': 'Any',
      'parent?': 'Any',
    },
    help: 'The agent uses one of its tools: `name` and `args`',
  },
  tool_output: { fields: { type: 'String', 'id?': 'Any', text: 'String' }, help: 'A piece of what a tool writes' },
  tool_result: {
    fields: { type: 'String', 'id?': 'Any', 'content?': 'Any', 'outcome?': 'Any' },
    help: 'What a tool gave',
  },
  thought: { fields: { type: 'String', text: 'String' }, help: 'What it thinks: `text`' },
  plan: { fields: { type: 'String', entries: 'Any' }, help: 'What it is going to do: `entries`' },
  usage: {
    fields: {
      type: 'String',
      'input_tokens?': 'Any',
      'output_tokens?': 'Any',
      'cache_read_tokens?': 'Any',
      'cache_write_tokens?': 'Any',
      'cost_usd?': 'Any',
      'model?': 'Any',
    },
    help: 'What it used since the last one',
  },
  message: { fields: { type: 'String', 'id?': 'Any', text: 'String' }, help: 'What it says, whole: `text`' },
  turn: {
    fields: { type: 'String', outcome: 'String', 'text?': 'Any' },
    help: 'Of a session that is supervised: a turn has ended',
  },
  status: { fields: { type: 'String', status: 'String' }, help: 'Of a session that is supervised: what it does now' },
  result: {
    type: 'AgentResult',
    fields: { type: 'String', 'text?': 'Any', 'message?': 'Any' },
    help: 'The end of the turn; only observed',
  },
  error: {
    fields: { type: 'String', message: 'String', 'code?': 'Any' },
    help: 'The agent gave up; only observed',
  },
  stderr: { fields: { type: 'String', text: 'String' }, help: 'A line of its standard error; only observed' },
  exit: {
    fields: { type: 'String', 'code?': 'Any', 'signal?': 'Any', stderr: 'String' },
    help: 'Its process has ended; only observed',
  },
} as const satisfies Record<string, MessageType>;
