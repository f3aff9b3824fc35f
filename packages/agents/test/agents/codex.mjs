// Speaks as `codex app-server` does; the first word of a prompt says what happens.
import { createInterface } from 'node:readline';

let threadId = 't-1';
const write = (frame) => process.stdout.write(`${JSON.stringify(frame)}\n`);
const tell = (method, params = {}) => write({ method, params: { threadId, turnId: turn?.id, ...params } });
const waiting = new Map();
let requests = 0;
const ask = (method, params) => {
  const id = requests++;
  write({ id, method, params: { threadId, turnId: turn?.id, itemId: 'i-1', ...params } });
  return new Promise((resolve) => waiting.set(id, resolve));
};

let started;
let retold = () => {};
let turn;
let turns = 0;
let total = 0;
const steered = [];
const terminals = [];
const told = [];
const subs = new Map();

const message = (id, text) => {
  tell('item/started', { item: { type: 'agentMessage', id, text: '' } });
  tell('item/agentMessage/delta', { itemId: id, delta: text });
  tell('item/completed', { item: { type: 'agentMessage', id, text } });
};
function use() {
  const last = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 4, reasoningOutputTokens: 2 };
  total += 1;
  const sum = Object.fromEntries(Object.entries(last).map(([name, count]) => [name, count * total]));
  // Told twice, as the program does when its limits change.
  for (let i = 0; i < 2; i++) tell('thread/tokenUsage/updated', { tokenUsage: { total: sum, last } });
}
function end(status = 'completed', error = null) {
  if (turn === undefined) return;
  const { id } = turn;
  tell('turn/completed', { turn: { id, status, error } });
  turn = undefined;
}
const answer = (text) => {
  message(`m-${turns}`, text);
  use();
  end();
};

function begin() {
  turn = { id: `turn-${++turns}` };
  tell('turn/started', { turn });
}
function goOn(words) {
  begin();
  tell('thread/goal/updated', { goal: { status: 'complete' } });
  answer(words);
}

const command = {
  type: 'commandExecution',
  id: 'i-1',
  command: "/bin/bash -lc 'rm -r build'",
  cwd: '/w',
  commandActions: [{ command: 'rm -r build' }],
};
const call = { type: 'mcpToolCall', id: 'i-1', server: 'files', arguments: { path: 'a' } };

const prompts = {
  say: (words) => answer(words),
  show: () => answer(JSON.stringify({ started, args: process.argv.slice(2), cwd: process.cwd() })),
  two: () => {
    message('m-a', 'First.');
    answer('Second.');
  },
  think: () => {
    tell('item/reasoning/summaryTextDelta', { delta: 'First this,' });
    tell('item/reasoning/summaryTextDelta', { delta: ' then that.' });
    tell('turn/plan/updated', { explanation: null, plan: [{ step: 'look', status: 'inProgress' }] });
    answer('Thought.');
  },
  async use(words) {
    const ran = { ...command, command: `/bin/bash -lc '${words}'`, commandActions: [{ command: words }] };
    message('m-a', 'I will.');
    tell('item/started', { item: { ...ran, status: 'inProgress' } });
    const { decision } = await ask('item/commandExecution/requestApproval', ran);
    const isDone = decision === 'accept';
    const ended = isDone ? { status: 'completed', aggregatedOutput: 'removed\n', exitCode: 0 } : { status: 'declined' };
    tell('item/completed', { item: { ...ran, ...ended } });
    if (isDone) answer('Done.');
    // Room for what is said beside the no.
    else setTimeout(() => answer(steered.join(' ') || 'Declined.'), 50);
  },
  async asks() {
    tell('item/started', { item: { ...command, status: 'inProgress' } });
    const isDone = (await ask('item/commandExecution/requestApproval', command)).decision === 'accept';
    tell('item/completed', { item: { ...command, status: isDone ? 'completed' : 'declined' } });
    answer(isDone ? 'ran' : 'refused');
  },
  sneaks: () => {
    tell('item/started', { item: { ...command, status: 'inProgress' } });
    tell('item/completed', { item: { ...command, status: 'completed', aggregatedOutput: 'removed' } });
  },
  lingers: () => tell('item/started', { item: { ...command, status: 'inProgress' } }),
  // It has a goal: when its turn is over it goes on by itself.
  goal: (what) => {
    tell('thread/goal/updated', { goal: { status: 'active' } });
    answer('I begin.');
    if (what !== 'for ever') goOn('Reached.');
  },
  // Nobody has prompted it any more.
  alone: () => {
    answer('Done.');
    setTimeout(() => goOn('By myself.'), 50);
  },
  stays: () => {
    answer('Done.');
    begin();
    message('m-own', 'Working.');
  },
  // It delegates, and says its word before its sub-agent does.
  async delegate(what) {
    const agentThreadId = 't-sub';
    const sub = { threadId: agentThreadId, turnId: 'turn-sub' };
    const item = { type: 'subAgentActivity', id: 'call-1', kind: 'started', agentThreadId, agentPath: '/root/look' };
    tell('item/started', { item });
    tell('item/completed', { item });
    tell('turn/started', { ...sub, turn: { id: 'turn-sub' } });
    subs.set(agentThreadId, sub);
    message('m-a', 'Waiting for my agent.');
    end();
    if (what === 'for ever') return;
    const listing = { ...command, id: 'i-sub' };
    tell('item/started', { ...sub, item: { ...listing, status: 'inProgress' } });
    await ask('item/commandExecution/requestApproval', { ...listing, ...sub, itemId: 'i-sub' });
    tell('item/completed', { ...sub, item: { ...listing, status: 'completed', aggregatedOutput: 'listed' } });
    tell('item/completed', { ...sub, item: { type: 'agentMessage', id: 'm-sub', text: 'SUB REPORT' } });
    const used = { inputTokens: 100, outputTokens: 20 };
    tell('thread/tokenUsage/updated', { ...sub, tokenUsage: { total: used, last: used } });
    tell('turn/completed', { ...sub, turn: { id: 'turn-sub', status: 'completed' } });
    tell('item/started', { item: { ...item, id: 'call-2', kind: 'completed' } });
  },
  aside: () => {
    const questions = [{ title: 'Which store?', options: ['SQLite', 'Redis'] }];
    const item = { type: 'agentMessage', id: 'm-q', text: 'A question.', delivery: 'async', questions };
    tell('item/completed', { item });
  },
  writes: () => {
    tell('item/started', { item: { ...command, status: 'inProgress' } });
    for (const delta of ['one\n', 'two\n']) tell('item/commandExecution/outputDelta', { itemId: 'i-1', delta });
    tell('item/completed', { item: { ...command, status: 'completed', aggregatedOutput: 'one\ntwo\n', exitCode: 0 } });
    answer('Written.');
  },
  async patch() {
    const item = { type: 'fileChange', id: 'i-1', changes: [{ path: 'a.ts', diff: '+x', kind: { type: 'add' } }] };
    tell('item/started', { item });
    const { decision } = await ask('item/fileChange/requestApproval', {});
    tell('item/completed', { item: { ...item, status: 'completed' } });
    answer(decision);
  },
  async tool(name) {
    tell('item/started', { item: { ...call, tool: name } });
    const _meta = { codex_approval_kind: 'mcp_tool_call', tool_params: call.arguments };
    const params = {
      serverName: 'files',
      mode: 'form',
      message: 'Allow it?',
      requestedSchema: { type: 'object', properties: {} },
      _meta,
    };
    const { action } = await ask('mcpServer/elicitation/request', params);
    const result = { content: [{ type: 'text', text: 'read' }, { type: 'image' }] };
    tell('item/completed', { item: { ...call, tool: name, status: 'completed', result } });
    answer(action);
  },
  async form() {
    const properties = { age: { type: 'integer', title: 'Age' }, name: { type: 'string', title: 'Name' } };
    const requestedSchema = { type: 'object', properties, required: ['age'] };
    answer(
      JSON.stringify(
        await ask('mcpServer/elicitation/request', {
          serverName: 'files',
          mode: 'form',
          message: 'Who?',
          requestedSchema,
        }),
      ),
    );
  },
  async colours() {
    const colour = { type: 'array', title: 'Colours', items: { enum: ['red', 'green'] } };
    const requestedSchema = { type: 'object', properties: { colour }, required: ['colour'] };
    const request = { serverName: 'paint', mode: 'form', message: 'Which?', requestedSchema };
    answer(JSON.stringify(await ask('mcpServer/elicitation/request', request)));
  },
  async choose() {
    const options = [
      { label: 'SQLite', description: 'one file' },
      { label: 'Redis', description: '' },
    ];
    const questions = [
      { id: 'store', header: 'Store', question: 'Which store?', options },
      { id: 'name', header: '', question: 'Which name?', options: null },
    ];
    answer(JSON.stringify(await ask('item/tool/requestUserInput', { questions })));
  },
  async withdraw() {
    void ask('item/commandExecution/requestApproval', command);
    tell('serverRequest/resolved', { requestId: requests - 1 });
    answer('changed my mind');
  },
  async stranger() {
    tell('something/new', { field: 1 });
    tell('account/rateLimits/updated', {});
    tell('item/agentMessage/delta', { threadId: 'another', itemId: 'x', delta: 'not for you' });
    process.stdout.write('a banner\n');
    answer(JSON.stringify(await ask('item/tool/call', {})));
  },
  fail: () => {
    tell('error', { error: { message: 'stream closed' }, willRetry: true });
    end('failed', { message: 'unexpected status 429', codexErrorInfo: { responseTooManyFailedAttempts: {} } });
  },
  logout: () => end('failed', { message: '401', codexErrorInfo: 'unauthorized' }),
  work: () => message('m-a', 'Working.'),
  background: () => {
    terminals.push('tail -f /dev/null');
    message('m-a', 'Working.');
  },
  // It waits for a command, and tells of its end only when it has been made to end.
  runs: () => {
    terminals.push(command);
    tell('item/started', { item: { ...command, status: 'inProgress' } });
    message('m-a', 'It runs.');
  },
  steered: () => answer(told.join(' | ')),
  // It leaves a command running, which ends a while later.
  leaves: () => {
    terminals.push('sleep 1');
    tell('item/started', { item: { ...command, status: 'inProgress' } });
    answer('It runs.');
    setTimeout(() => terminals.pop(), 500);
  },
  terminals: () => answer(`${terminals.length} running`),
  deaf: () => {
    turn.isDeaf = true;
    message('m-a', 'Working.');
  },
  leak: () => {
    process.stderr.write(`cannot log in with ${JSON.stringify(started.config)}\n`);
    process.exit(3);
  },
  die: () => {
    process.stderr.write('out of memory\n');
    process.exit(3);
  },
};

const methods = {
  initialize: () => ({ userAgent: 'concerto/0.9.1 (Linux)', codexHome: process.env.CODEX_HOME }),
  'config/read': () => ({ config: { mcp_servers: { own: { command: 'mine' }, files: { command: 'mine' } } } }),
  'thread/start': (params) => {
    started = params;
    return { thread: { id: threadId } };
  },
  'thread/fork': (params) => {
    if (params.threadId === 'lost') throw new Error('no rollout found for thread id lost');
    started = params;
    threadId = 't-fork';
    return { thread: { id: threadId } };
  },
  'thread/resume': (params) => {
    if (params.threadId === 'lost') throw new Error('no rollout found for thread id lost');
    started = params;
    threadId = params.threadId;
    // Of a turn of the process before: not to be paid for twice.
    total = 3;
    retold = () => {
      const last = { inputTokens: 10, outputTokens: 5 };
      tell('thread/tokenUsage/updated', {
        turnId: 'turn-0',
        tokenUsage: { total: { inputTokens: 30, outputTokens: 15 }, last },
      });
    };
    return { thread: { id: params.threadId } };
  },
  'thread/settings/update': (params) => {
    if (params.model === 'none') throw new Error('no such model');
    Object.assign(started, params);
    return {};
  },
  'turn/start': ({ input }) => {
    turns += 1;
    turn = { id: `turn-${turns}` };
    steered.length = 0;
    const text = input[0].text;
    if (text === 'refuse') {
      turn = undefined;
      throw new Error('the model is not there');
    }
    setImmediate(() => {
      retold();
      tell('turn/started', { turn });
      const [what, ...rest] = text.split(' ');
      // With files it is several; what came is what is answered.
      if (input.length > 1) answer(JSON.stringify(input));
      else if (prompts[what] === undefined) answer(`heard: ${text}`);
      else void prompts[what](rest.join(' '));
    });
    return { turn };
  },
  'turn/steer': ({ expectedTurnId, input }) => {
    if (turn?.id !== expectedTurnId) throw new Error('no active turn to steer');
    steered.push(input[0].text);
    told.push(input[0].text);
    if (input[0].text.startsWith('in ')) setImmediate(() => answer(`heard: ${input[0].text}`));
    return { turnId: turn.id };
  },
  'thread/backgroundTerminals/clean': () => {
    if (process.env.OLD === '1') throw new Error('unknown method');
    if (terminals.includes(command)) {
      const killed = { status: 'failed', aggregatedOutput: 'begun\n', exitCode: -1 };
      setImmediate(() => tell('item/completed', { item: { ...command, ...killed } }));
    }
    terminals.length = 0;
    return {};
  },
  'thread/backgroundTerminals/list': () => ({ data: terminals }),
  'turn/interrupt': ({ threadId: thread, turnId }) => {
    const sub = subs.get(thread);
    if (sub !== undefined) {
      subs.delete(thread);
      setImmediate(() => tell('turn/completed', { ...sub, turn: { id: sub.turnId, status: 'interrupted' } }));
      return {};
    }
    if (turn?.id !== turnId || turn.isDeaf) throw new Error('no such turn');
    for (const requestId of waiting.keys()) tell('serverRequest/resolved', { requestId });
    waiting.clear();
    setImmediate(() => end('interrupted'));
    return {};
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result, error, jsonrpc } = JSON.parse(line);
  if (jsonrpc !== undefined) throw new Error('the program does not know this field');
  if (process.env.MUTE === '1') return;
  if (method === undefined) {
    waiting.get(id)?.(result ?? error);
    waiting.delete(id);
  } else if (id !== undefined) {
    try {
      write({ id, result: methods[method](params) });
    } catch (cause) {
      write({ id, error: { code: -32600, message: cause.message } });
    }
  }
});
