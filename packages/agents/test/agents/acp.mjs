// An agent that speaks ACP and does what its prompt names. Arguments change how it starts.
import { createInterface } from 'node:readline';

const ways = new Set(process.argv.slice(2));
const agentName = [...ways].find((way) => way.startsWith('as:'))?.slice(3) ?? 'scripted';
const sessionId = 'conversation-1';
const waiting = new Map();
let lastId = 0;
let cancelled = () => {};
let steered = () => {};

const send = (frame) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);
const update = (fields) => send({ method: 'session/update', params: { sessionId, update: fields } });
const say = (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
const ask = (method, params) =>
  new Promise((resolve) => {
    waiting.set(++lastId, resolve);
    send({ id: lastId, method, params });
  });
const untilCancelled = () =>
  new Promise((resolve) => {
    cancelled = resolve;
  });

const options = [
  { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
  { optionId: 'ever', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'not', name: 'Reject', kind: 'reject_once' },
];
const command = {
  toolCallId: 'call_1',
  title: '`rm -r build`',
  kind: 'execute',
  status: 'pending',
  rawInput: { command: 'rm -r build' },
  _meta: { claudeCode: { toolName: 'Bash' } },
};
const permission = (toolCall = command) =>
  ask('session/request_permission', { sessionId, toolCall, options }).then(({ outcome }) => outcome);
const form = (properties, message = 'Please answer.', required = []) =>
  ask('elicitation/create', {
    mode: 'form',
    sessionId,
    message,
    requestedSchema: { type: 'object', properties, required },
  });
const refusal = (code, message, data) => Object.assign(new Error(message), { code, data });
const end = (stopReason = 'end_turn') => ({ stopReason });

/** A call as the known agents begin it: each tells the tool's name in a place of its own, and later what is run. */
function beginCommand() {
  const own = {
    OpenCode: { toolCallId: 'call_9', title: 'bash', kind: 'execute' },
    'gemini-cli': { toolCallId: 'run_shell_command__9', title: 'rm -r build', kind: 'execute' },
    'claude-agent-acp': { toolCallId: 'call_9', title: 'Terminal', kind: 'execute', name: 'Bash' },
    'codex-acp': { toolCallId: 'call_9', title: 'rm -r build', kind: 'execute' },
  };
  const call = { status: 'pending', rawInput: { cwd: '/w' }, ...(own[agentName] ?? command) };
  update({ sessionUpdate: 'tool_call', ...call });
  const rawInput = { command: 'rm -r build', cwd: '/w' };
  const { toolCallId } = call;
  const title = 'rm -r build';
  update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress', title, rawInput });
  return { toolCallId, kind: 'execute', status: 'pending', rawInput };
}

const scenes = {
  async hello() {
    say('Hello ');
    say('there.');
    return { stopReason: 'end_turn', usage: { totalTokens: 12, inputTokens: 7, outputTokens: 5, cachedReadTokens: 2 } };
  },
  async permission() {
    update({ sessionUpdate: 'tool_call', ...command, rawInput: {} });
    const outcome = await permission();
    if (outcome.outcome === 'selected' && outcome.optionId !== 'not') {
      update({ sessionUpdate: 'tool_call_update', toolCallId: 'call_1', status: 'completed', rawOutput: { code: 0 } });
    }
    say(JSON.stringify(outcome));
    return end();
  },
  async asks() {
    const call = beginCommand();
    const outcome = await permission({ ...call, title: 'rm -r build' });
    const isAllowed = outcome.optionId === 'once';
    const status = isAllowed ? 'completed' : 'failed';
    update({ sessionUpdate: 'tool_call_update', toolCallId: call.toolCallId, status });
    say(isAllowed ? 'ran' : 'refused');
    return end();
  },
  async sneaks() {
    const stopped = untilCancelled();
    const { toolCallId } = beginCommand();
    update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', title: 'rm -r build' });
    await stopped;
    return end('cancelled');
  },
  async lingers() {
    const stopped = untilCancelled();
    beginCommand();
    await stopped;
    return end('cancelled');
  },
  async fills() {
    update({ sessionUpdate: 'usage_update', used: 7, size: 100 });
    update({ sessionUpdate: 'usage_update', used: 9, size: 100 });
    return end();
  },
  async billed() {
    update({ sessionUpdate: 'usage_update', used: 7, size: 100, cost: { amount: 0.5, currency: 'USD' } });
    return { stopReason: 'end_turn', usage: { inputTokens: 1, outputTokens: 1 } };
  },
  async writes() {
    const { toolCallId } = beginCommand();
    const told = (status, text) =>
      update({
        sessionUpdate: 'tool_call_update',
        toolCallId,
        status,
        content: [{ type: 'content', content: { type: 'text', text } }],
      });
    told('in_progress', 'one\n');
    told('in_progress', 'one\ntwo\n');
    told('completed', 'one\ntwo\n');
    return end();
  },
  // Nothing is told of the call before the permission, nor after its refusal; and the refusal ends the turn.
  async cold() {
    const outcome = await permission();
    return end(outcome.optionId === 'not' ? 'cancelled' : 'end_turn');
  },
  async withdrawn() {
    const answer = permission();
    send({ method: '$/cancel_request', params: { requestId: lastId } });
    say(JSON.stringify(await answer));
    return end();
  },
  async 'permission, then wait'() {
    const stopped = untilCancelled();
    const outcome = await permission();
    await stopped;
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: JSON.stringify(outcome) } });
    return end('cancelled');
  },
  async choose() {
    const properties = {
      question_0: {
        type: 'string',
        oneOf: [
          { const: 'SQLite', title: 'SQLite', description: 'one file' },
          { const: 'Redis', title: 'Redis' },
        ],
      },
      question_0_custom: { type: 'string', title: 'Other' },
    };
    say(JSON.stringify(await form(properties, 'Which store?')));
    return end();
  },
  async form() {
    const properties = {
      name: { type: 'string', title: 'Name' },
      age: { type: 'integer', title: 'Age' },
      sure: { type: 'boolean', title: 'Sure?' },
      colours: { type: 'array', title: 'Colours', items: { type: 'string', enum: ['red', 'green', 'blue'] } },
    };
    say(JSON.stringify(await form(properties, 'About you', ['age'])));
    return end();
  },
  async tools() {
    say('Before.');
    update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Hm.' } });
    update({
      sessionUpdate: 'tool_call',
      toolCallId: 'call_1',
      title: 'Read',
      kind: 'read',
      status: 'pending',
      rawInput: {},
    });
    update({
      sessionUpdate: 'tool_call_update',
      toolCallId: 'call_1',
      title: 'Read a.txt',
      rawInput: { path: 'a.txt' },
    });
    update({ sessionUpdate: 'tool_call_update', toolCallId: 'call_1', status: 'in_progress' });
    update({
      sessionUpdate: 'tool_call_update',
      toolCallId: 'call_1',
      status: 'completed',
      content: [
        { type: 'content', content: { type: 'text', text: 'the text' } },
        { type: 'diff', path: 'a.txt', oldText: null, newText: 'new' },
      ],
    });
    update({ sessionUpdate: 'tool_call_update', toolCallId: 'call_1', status: 'completed' });
    update({
      sessionUpdate: 'tool_call',
      toolCallId: 'call_2',
      title: 'Never ends',
      kind: 'fetch',
      status: 'in_progress',
    });
    update({
      sessionUpdate: 'plan',
      entries: [
        { content: 'one', status: 'completed', priority: 'high' },
        { content: 'two', status: 'in_progress', priority: 'low' },
      ],
    });
    say('After.');
    return end();
  },
  async commands() {
    const availableCommands = [
      { name: 'compact', description: 'Make the conversation shorter' },
      { name: 'cost', description: 'What it took so far' },
    ];
    update({ sessionUpdate: 'available_commands_update', availableCommands });
    say('Told.');
    return end();
  },
  async odd() {
    send({ method: '_vendor/news', params: { a: 1 } });
    update({ sessionUpdate: 'available_commands_update', availableCommands: [] });
    update({ sessionUpdate: 'from_the_future', x: 1 });
    update({ sessionUpdate: 'agent_message_chunk', content: 'not a block' });
    send({
      method: 'session/update',
      params: {
        sessionId: 'somebody-else',
        update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'not for you' } },
      },
    });
    const refused = await ask('fs/write_text_file', { sessionId, path: '/x', content: '' });
    update({ sessionUpdate: 'usage_update', used: 10, size: 100, cost: { amount: 0.5, currency: 'USD' } });
    update({ sessionUpdate: 'usage_update', used: 20, size: 100, cost: { amount: 0.75, currency: 'USD' } });
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'image', mimeType: 'image/png', data: 'AAAA' } });
    say(JSON.stringify(refused));
    return end();
  },
  // Hears no cancel.
  async deaf() {
    say('La la la.');
    await new Promise(() => {});
  },
  async garbage() {
    process.stdout.write('Warning: I am chatty\n{"jsonrpc":"2.0"}\n[1,2]\n');
    say('Still here.');
    return end();
  },
  async wait() {
    const stopped = untilCancelled();
    say('Waiting.');
    await stopped;
    return end('cancelled');
  },
  async 'wait for steering'() {
    const text = new Promise((resolve) => {
      steered = resolve;
    });
    say('Working.');
    say(`Steered: ${await text}`);
    return end();
  },
  async exit() {
    say('I am not well.');
    process.stderr.write('out of memory\n');
    process.stdout.write('', () => process.exit(3));
    return new Promise(() => {});
  },
  async 'answer and exit'() {
    say('Bye.');
    setImmediate(() => process.exit(0));
    return end();
  },
  async bill() {
    for (const amount of [1, 1.5]) {
      update({ sessionUpdate: 'usage_update', used: 10, size: 100, cost: { amount, currency: 'USD' } });
    }
    return end();
  },
  // Work goes on in the background after the turn.
  async background() {
    say('Started.');
    const afterwards = async () => {
      say('By the way: done.');
      const outcome = await permission();
      say(JSON.stringify(outcome));
    };
    setTimeout(() => void afterwards(), 50);
    return end();
  },
  async tokens() {
    say('It is very lo');
    return end('max_tokens');
  },
  async fail() {
    throw refusal(-32603, 'Internal error', { details: 'the model is on strike' });
  },
};

let opened;

const methods = {
  initialize: async ({ clientCapabilities }) => {
    if (ways.has('banner')) process.stdout.write('Welcome to the agent!\n');
    if (ways.has('silent')) await new Promise(() => {});
    if (ways.has('dies')) process.exit(7);
    return {
      protocolVersion: ways.has('future') ? 2 : 1,
      agentCapabilities: {
        promptCapabilities: { image: true },
        loadSession: ways.has('load'),
        mcpCapabilities: { http: true },
        sessionCapabilities: ways.has('resume') ? { resume: {} } : {},
      },
      agentInfo: { name: agentName, version: '1.2.3' },
      authMethods: [{ id: 'key', name: 'API key' }],
      ...(ways.has('steering') ? { _meta: { steering: { supported: true } } } : {}),
      seen: clientCapabilities,
    };
  },
  authenticate: async ({ methodId }) => {
    ways.delete(`login:${methodId}`);
    return {};
  },
  'session/new': async (params) => {
    if (ways.has('tells')) throw refusal(-32603, 'Internal error', { details: `cannot use ${JSON.stringify(params)}` });
    if (ways.has('login:key')) throw refusal(-32000, 'Authentication required');
    opened = { how: 'new', ...params };
    const availableModels = ['small', 'large'].map((modelId) => ({ modelId }));
    const availableModes = ['ask', 'code', 'broken'].map((id) => ({ id, name: `The mode ${id}` }));
    const modes = ways.has('modes') ? { modes: { availableModes, currentModeId: 'ask' } } : {};
    return { sessionId, models: { availableModels, currentModelId: 'small' }, ...modes };
  },
  'session/load': async (params) => {
    if (params.sessionId !== sessionId) throw refusal(-32002, 'No such session');
    opened = { how: 'load', ...params };
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'said long ago' } });
    setImmediate(() => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'said late' } }));
    return {};
  },
  'session/resume': async (params) => {
    opened = { how: 'resume', ...params };
    return {};
  },
  'session/set_model': async ({ modelId }) => {
    opened.model = modelId;
    return {};
  },
  'session/set_mode': async ({ modeId }) => {
    if (modeId === 'broken') throw refusal(-32603, 'Internal error', { details: 'this mode is broken' });
    opened.mode = modeId;
    return {};
  },
  'session/set_config_option': async ({ configId, value }) => {
    opened[configId] = value;
    return {};
  },
  '_session/steering': async ({ prompt }) => {
    if (ways.has('steers late')) return { outcome: 'promptRequired' };
    steered(prompt[0].text);
    return { outcome: 'injected' };
  },
  'session/prompt': async ({ prompt }) => {
    const [{ text }] = prompt;
    // With files it is several blocks; what came is what is answered.
    if (prompt.length > 1) {
      say(JSON.stringify(prompt));
      return end();
    }
    if (text === 'opened') {
      say(JSON.stringify(opened));
      return end();
    }
    if (scenes[text] !== undefined) return await scenes[text]();
    say(prompt.map((block) => block.text).join('|'));
    return end();
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === undefined) {
    waiting.get(id)?.(result ?? { error });
    return;
  }
  if (method === 'session/cancel') {
    cancelled();
    return;
  }
  const handle = methods[method];
  if (handle === undefined) return send({ id, error: { code: -32601, message: 'Method not found' } });
  handle(params).then(
    (value) => send({ id, result: value }),
    ({ code, message, data }) => send({ id, error: { code, message, data } }),
  );
});
