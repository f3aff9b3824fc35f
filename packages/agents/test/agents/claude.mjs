// Speaks as `claude` does with `--input-format stream-json`; the first word of a prompt says what happens. What it
// was started with comes back with `show`.
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';

const options = Object.fromEntries(
  process.argv.slice(2).map((word) => {
    const [name, ...value] = word.replace(/^-+/, '').split('=');
    return [name, value.length === 0 ? true : value.join('=')];
  }),
);
const { resume } = options;
const session_id = options['fork-session'] === true ? 'c-fork' : (resume ?? 'c-1');
const say = (message) => process.stdout.write(`${JSON.stringify({ session_id, ...message })}\n`);

let total = resume === undefined ? 0 : 2;
function end(fields) {
  total += 0.5;
  const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 };
  say({ type: 'result', subtype: 'success', is_error: false, num_turns: 1, total_cost_usd: total, usage, ...fields });
}
const delta = (fields) => say({ type: 'stream_event', event: { type: 'content_block_delta', delta: fields } });
const block = (type) => say({ type: 'stream_event', event: { type: 'content_block_start', content_block: { type } } });
const text = (words) => {
  block('text');
  delta({ type: 'text_delta', text: words });
};
const assistant = (block, fields = {}) => say({ type: 'assistant', message: { content: [block] }, ...fields });
const toolResult = (tool_use_id, content, is_error = false) =>
  say({ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id, content, is_error }] } });
const ask = (request) => {
  const request_id = randomUUID();
  say({ type: 'control_request', request_id, request });
  return new Promise((resolve) => waiting.set(request_id, resolve));
};

const waiting = new Map();
let finishTask;
const queued = [];
let isBusy = false;
let doing;
let isDeaf = false;
let hooks = {};
let messages = 0;
let used;

if (resume === 'lost') {
  process.stderr.write(`No conversation found with session ID: ${resume}\n`);
  process.exit(1);
}

function sleeps(id) {
  assistant({ type: 'tool_use', id, name: 'ScheduleWakeup', input: { delaySeconds: 60, prompt: 'again' } });
  const tool_use_result = { scheduledFor: 1_800_000_000_000, clampedDelaySeconds: 60 };
  say({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: id, content: 'set' }] },
    tool_use_result,
  });
}
async function wakes(wakeup_source, words, isLong = false) {
  isBusy = true;
  say({ type: 'command_lifecycle', command_uuid: randomUUID(), state: 'started', wakeup_source });
  say({ type: 'system', subtype: 'init', model: 'fake', claude_code_version: '9.9' });
  text(words);
  if (isLong) await new Promise((resolve) => waiting.set('stop', resolve));
  else end({ result: words });
  isBusy = false;
  const next = queued.shift();
  if (next !== undefined) await run(next);
}

const turns = {
  async say(words) {
    text(words);
    assistant({ type: 'text', text: words }, { uuid: `u-${++messages}` });
    end({ result: words });
  },
  async show() {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('CONCERTO_MCP_')));
    end({ result: JSON.stringify({ options, env, cwd: process.cwd(), hooks }) });
  },
  async think() {
    block('thinking');
    delta({ type: 'thinking_delta', thinking: 'First this,' });
    delta({ type: 'thinking_delta', thinking: ' then that.\nAnd ' });
    delta({ type: 'thinking_delta', thinking: 'more.' });
    await this.say('Thought.');
  },
  async use(command) {
    text('I will.');
    const input = { command };
    assistant({ type: 'tool_use', id: 'toolu_1', name: 'Bash', input });
    const { response } = await ask({ subtype: 'can_use_tool', tool_name: 'Bash', input, tool_use_id: 'toolu_1' });
    if (response.behavior === 'deny') {
      toolResult('toolu_1', response.message, true);
      end({ result: response.message, permission_denials: [{ tool_name: 'Bash' }] });
    } else {
      toolResult('toolu_1', [{ type: 'text', text: `ran ${response.updatedInput.command}` }]);
      text('Done.');
      end({ result: 'Done.' });
    }
  },
  // It tells what it has used before its turn is over.
  async spend() {
    total += 0.25;
    used = { fake: { inputTokens: 100, outputTokens: 20, costUSD: 0.25, contextWindow: 1000 } };
    say({ type: 'stream_event', event: { type: 'message_start', message: { id: 'm-1', model: 'fake' } } });
    say({ type: 'stream_event', event: { type: 'message_delta', usage: { input_tokens: 100, output_tokens: 20 } } });
    const input = { command: 'ls' };
    await ask({ subtype: 'can_use_tool', tool_name: 'Bash', input, tool_use_id: 'toolu_1' });
    used = { fake: { inputTokens: 300, outputTokens: 50, costUSD: 0.75, contextWindow: 1000 } };
    end({ result: 'Spent.', modelUsage: used });
  },
  // Under the session's rules: our hook is asked first, then we are.
  async asks() {
    const input = { command: 'rm -r build' };
    assistant({ type: 'tool_use', id: 'toolu_1', name: 'Bash', input });
    const callback = { subtype: 'hook_callback', callback_id: 'x', input: { tool_name: 'Bash' } };
    const { hookSpecificOutput: ruled } = hooks.PreToolUse === undefined ? {} : (await ask(callback)).response;
    const isDenied = ruled?.permissionDecision === 'deny';
    const request = { subtype: 'can_use_tool', tool_name: 'Bash', input, tool_use_id: 'toolu_1' };
    const isAllowed = !isDenied && (await ask(request)).response.behavior === 'allow';
    toolResult('toolu_1', isAllowed ? 'ran' : 'refused', !isAllowed);
    end({ result: isAllowed ? 'ran' : 'refused' });
  },
  async sneaks() {
    assistant({ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'rm -r build' } });
    toolResult('toolu_1', 'ran');
    await this.work();
  },
  async lingers() {
    assistant({ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'rm -r build' } });
    await this.work();
  },
  // It delegates, says its word, and goes on when what it has begun ends.
  async delegate(what) {
    const task = { task_id: 't-1', tool_use_id: 'toolu_1', is_backgrounded: true };
    assistant({ type: 'tool_use', id: 'toolu_1', name: 'Task', input: { description: 'look', prompt: 'look' } });
    say({ type: 'system', subtype: 'background_tasks_changed', tasks: [{ task_id: 't-1' }] });
    say({ type: 'system', subtype: 'task_started', ...task, description: 'look' });
    toolResult('toolu_1', 'launched');
    const inTask = { parent_tool_use_id: 'toolu_1' };
    assistant({ type: 'tool_use', id: 'toolu_2', name: 'Bash', input: { command: 'ls' } }, inTask);
    text('Waiting for my agent.');
    end({ result: 'Waiting for my agent.' });
    finishTask = (status) => {
      finishTask = undefined;
      say({ type: 'system', subtype: 'task_notification', ...task, status, summary: 'SUB REPORT' });
      say({ type: 'system', subtype: 'background_tasks_changed', tasks: [] });
    };
    if (what === 'for ever') return;
    const request = { subtype: 'can_use_tool', tool_name: 'Bash', input: { command: 'ls' }, tool_use_id: 'toolu_2' };
    await ask({ ...request, agent_id: 't-1' });
    say({
      type: 'user',
      message: { content: [{ type: 'tool_result', tool_use_id: 'toolu_2', content: 'listed' }] },
      parent_tool_use_id: 'toolu_1',
    });
    finishTask('completed');
    if (what === 'without a word') return;
    say({ type: 'system', subtype: 'init', model: 'fake', claude_code_version: '9.9' });
    text('FINAL REPORT');
    end({ result: 'FINAL REPORT' });
  },
  async hook(tool_name) {
    const { response } = await ask({ subtype: 'hook_callback', callback_id: 'x', input: { tool_name } });
    end({ result: JSON.stringify(response) });
  },
  async choose() {
    const options = [{ label: 'SQLite', description: 'one file' }, { label: 'Redis' }];
    const questions = [
      { question: 'Which store?', header: 'Store', options },
      { question: 'Which name?', multiSelect: true, options: [{ label: 'a' }, { label: 'b' }] },
    ];
    const { response } = await ask({ subtype: 'can_use_tool', tool_name: 'AskUserQuestion', input: { questions } });
    end({ result: JSON.stringify(response.updatedInput?.answers ?? response.message) });
  },
  async subagent() {
    assistant({ type: 'tool_use', id: 'task_1', name: 'Task', input: { description: 'look around' } });
    assistant(
      { type: 'tool_use', id: 'read_1', name: 'Read', input: { file_path: 'a.ts' } },
      { parent_tool_use_id: 'task_1' },
    );
    say({
      type: 'stream_event',
      parent_tool_use_id: 'task_1',
      event: { type: 'content_block_delta', delta: { type: 'text_delta', text: 'not for you' } },
    });
    toolResult('task_1', 'looked');
    end({ result: 'Looked.' });
  },
  async limit() {
    end({ is_error: true, result: 'API Error: 529 overloaded', terminal_reason: 'api_error' });
  },
  async stranger() {
    say({ type: 'something_new', field: 1 });
    say({ type: 'system', subtype: 'something_newer' });
    say({ type: 'keep_alive' });
    process.stdout.write('a banner\n');
    const { error } = await ask({ subtype: 'something_to_serve' });
    end({ result: error });
  },
  async withdraw() {
    const request_id = 'w-1';
    say({ type: 'control_request', request_id, request: { subtype: 'can_use_tool', tool_name: 'Bash', input: {} } });
    say({ type: 'control_cancel_request', request_id });
    end({ result: 'changed my mind' });
  },
  async work() {
    text('Working.');
    await new Promise((resolve) => waiting.set('stop', resolve));
  },
  async drop() {
    await this.work();
  },
  async forget() {
    await this.work();
  },
  async wake() {
    end({ result: 'asleep' });
    end({ result: 'woken' });
  },
  // Its model wants to be woken at a time, and is.
  async sleep(what) {
    sleeps('toolu_1');
    if (what === 'twice') sleeps('toolu_2');
    text('Waiting for my time.');
    end({ result: 'Waiting for my time.' });
    if (what === 'for ever') return;
    setTimeout(() => void wakes('loop_wakeup', 'WOKEN'), 50);
  },
  // Somebody has set a time, and nobody has prompted it when it comes.
  async alarm(what) {
    end({ result: 'Set.' });
    setTimeout(() => void wakes('schedule_wakeup', 'RANG', what === 'and works'), 50);
  },
  async deaf() {
    isDeaf = true;
    text('Working.');
    await new Promise(() => {});
  },
  async leak() {
    process.stderr.write(`cannot log in with ${process.env.CONCERTO_MCP_1}\n`);
    process.exit(3);
  },
  async die() {
    process.stderr.write('out of memory\n');
    process.exit(3);
  },
};

async function run({ message, uuid }) {
  isBusy = true;
  if (uuid !== undefined) say({ type: 'command_lifecycle', command_uuid: uuid, state: 'started' });
  say({ type: 'system', subtype: 'init', model: 'fake', claude_code_version: '9.9' });
  // With files it is blocks; what came is what is answered.
  if (Array.isArray(message.content)) return end({ result: JSON.stringify(message.content) });
  const [what, ...rest] = message.content.split(' ');
  doing = what;
  if (turns[what] === undefined) end({ result: `heard: ${message.content}` });
  else await turns[what](rest.join(' '));
  isBusy = false;
  const next = queued.shift();
  if (next !== undefined) await run(next);
}

function interrupt({ cancel_queued }) {
  if (cancel_queued) queued.length = 0;
  if (isDeaf || !isBusy) return;
  for (const request_id of waiting.keys())
    if (request_id !== 'stop') say({ type: 'control_cancel_request', request_id });
  const stop = waiting.get('stop');
  waiting.clear();
  end({ subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_tools', result: undefined });
  isBusy = false;
  stop?.();
}

const answers = {
  initialize: ({ hooks: given = {} }) => {
    hooks = given;
    // Of somebody who has never logged in.
    const account = process.env.STRANGER === '1' ? { account: { tokenSource: 'none', apiKeySource: 'none' } } : {};
    return { commands: [], ...account };
  },
  get_binary_version: () => ({ version: '9.9' }),
  get_usage: () => ({ session: { total_cost_usd: total, model_usage: used } }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.type === 'control_response') {
    const { request_id, ...response } = message.response;
    waiting.get(request_id)?.(response);
    waiting.delete(request_id);
  } else if (message.type === 'control_request') {
    const { request_id, request } = message;
    if (process.env.MUTE === '1') return;
    if (request.subtype === 'interrupt') interrupt(request);
    if (request.subtype === 'stop_task') finishTask?.('stopped');
    if (request.model === 'none') {
      return say({ type: 'control_response', response: { subtype: 'error', request_id, error: 'no such model' } });
    }
    if (request.subtype === 'set_model') options.model = request.model;
    if (request.subtype === 'set_permission_mode') options['permission-mode'] = request.mode;
    if (request.subtype === 'apply_flag_settings') options.effort = request.settings.effortLevel;
    const response = answers[request.subtype]?.(request) ?? {};
    say({ type: 'control_response', response: { subtype: 'success', request_id, response } });
  } else if (isBusy) {
    if (doing === 'drop')
      setTimeout(() => say({ type: 'command_lifecycle', command_uuid: message.uuid, state: 'cancelled' }), 50);
    else if (doing !== 'forget') queued.push(message);
    // So that a test can let the first turn end only once the second message is there.
    if (waiting.has('stop')) {
      waiting.get('stop')();
      waiting.delete('stop');
      end({ result: 'first part' });
    }
  } else void run(message);
});
