import { readClaudeLine } from '@concerto/protocol';
import { describe, expect, test } from 'vitest';
import { type Meaning, Translator } from './translate.ts';

/** The shapes of `claude` 2.1.325, shortened to what matters. */
const shapes = {
  init: {
    type: 'system',
    subtype: 'init',
    cwd: '/w',
    session_id: 's-1',
    tools: ['Bash'],
    model: 'claude-sonnet-4-5',
    claude_code_version: '2.1.325',
  },
  textStart: {
    type: 'stream_event',
    event: { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    parent_tool_use_id: null,
  },
  delta: (text: string, parent: string | null = null) => ({
    type: 'stream_event',
    event: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    parent_tool_use_id: parent,
  }),
  toolUse: (name: string, input: object) => ({
    type: 'assistant',
    message: { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name, input }] },
    parent_tool_use_id: null,
  }),
  canUse: (tool: string, input: object) => ({
    type: 'control_request',
    request_id: 'r-1',
    request: {
      subtype: 'can_use_tool',
      tool_name: tool,
      display_name: tool,
      input,
      permission_suggestions: [{ type: 'addRules', rules: [{ toolName: tool }], behavior: 'allow' }],
      blocked_path: '/w/out.txt',
      tool_use_id: 'call_1',
    },
  }),
  result: (fields: object = {}) => ({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'All done.',
    session_id: 's-1',
    num_turns: 2,
    total_cost_usd: 0.0012,
    usage: { input_tokens: 200, cache_creation_input_tokens: 5, cache_read_input_tokens: 10, output_tokens: 40 },
    permission_denials: [],
    terminal_reason: 'completed',
    ...fields,
  }),
};

function translate(...messages: object[]): Meaning[] {
  const translator = new Translator();
  return messages.flatMap((message) => {
    const read = readClaudeLine(JSON.stringify(message));
    return read.kind === 'message' ? translator.read(read.message) : [];
  });
}

describe('what the program says', () => {
  test('its text is partial, block by block with a paragraph between; a subagent’s text is not', () => {
    const said = translate(
      shapes.textStart,
      shapes.delta('One'),
      shapes.delta(' block.'),
      shapes.delta('aside', 'toolu_1'),
      shapes.textStart,
      shapes.delta('Another.'),
    );
    expect(said.map((meaning) => (meaning.kind === 'partial' ? meaning.text : meaning.kind)).join('')).toBe(
      'One block.\n\nAnother.',
    );
  });

  test('a tool that it uses is progress, one that fails is a log; the start of the session is told once', () => {
    expect(
      translate(shapes.init, shapes.toolUse('Bash', { command: 'npm test', description: 'Run tests' }), shapes.init, {
        type: 'user',
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'not today', is_error: true }],
        },
      }),
    ).toEqual([
      { kind: 'session', sessionId: 's-1' },
      { kind: 'log', level: 'debug', message: 'Claude Code 2.1.325 with claude-sonnet-4-5' },
      { kind: 'progress', message: 'Bash: npm test', stage: 'Bash' },
      { kind: 'session', sessionId: 's-1' },
      { kind: 'log', level: 'warn', message: 'a tool failed: not today' },
    ]);
  });

  test('a retry of a request is a log; what we do not know is nothing', () => {
    expect(
      translate(
        { type: 'system', subtype: 'api_retry', attempt: 1, max_retries: 10, error_status: 529, error: 'overloaded' },
        { type: 'system', subtype: 'status', status: 'requesting' },
        { type: 'something_new', fields: 1 },
        { type: 'rate_limit_event' },
      ),
    ).toEqual([{ kind: 'log', level: 'warn', message: 'asking again: overloaded' }]);
    expect(readClaudeLine('a banner')).toEqual({ kind: 'text', text: 'a banner' });
  });
});

describe('what the program asks', () => {
  test('a permission is an approval: what it is about, how risky, and the whole input', () => {
    const input = { command: 'rm -rf build\nls', description: 'Clean' };
    expect(translate(shapes.canUse('Bash', input))).toEqual([
      {
        kind: 'approval',
        requestId: 'r-1',
        description: 'Bash: rm -rf build ⏎ ls',
        riskLevel: 'high',
        tool: 'Bash',
        input,
      },
    ]);
    const risks = ['Read', 'Write', 'mcp__db__drop'].map((tool) => translate(shapes.canUse(tool, {}))[0]);
    expect(risks).toMatchObject([{ riskLevel: 'low' }, { riskLevel: 'medium' }, { riskLevel: 'high' }]);
  });

  test('AskUserQuestion is a question with its options', () => {
    const options = [{ label: 'SQLite', description: 'one file' }, { label: 'Redis' }];
    const questions = [{ question: 'Which store?', header: 'Store', multiSelect: false, options }];
    const input = { questions };
    expect(translate(shapes.canUse('AskUserQuestion', input))).toEqual([
      { kind: 'questions', requestId: 'r-1', input, questions },
    ]);
  });

  test('questions of a shape that we do not know are still put to somebody', () => {
    expect(translate(shapes.canUse('AskUserQuestion', { questions: 'odd' }))).toMatchObject([{ kind: 'approval' }]);
  });

  test('a request that nobody here can serve is known as such; a request can be withdrawn', () => {
    expect(
      translate(
        { type: 'control_request', request_id: 'r-2', request: { subtype: 'hook_callback', callback_id: 'h' } },
        { type: 'control_cancel_request', request_id: 'r-1' },
      ),
    ).toEqual([
      { kind: 'unserved', requestId: 'r-2', subtype: 'hook_callback' },
      { kind: 'withdrawn', requestId: 'r-1' },
    ]);
  });
});

describe('how it ends', () => {
  test('with a text and a bill', () => {
    expect(translate(shapes.result({ permission_denials: [{ tool_name: 'Bash' }] })).at(-1)).toEqual({
      kind: 'ended',
      end: {
        ok: true,
        text: 'All done.',
        bill: { inputTokens: 215, outputTokens: 40, totalCost: 0.0012, turns: 2, denied: ['Bash'] },
      },
    });
  });

  test('a failed request to the model is called a success by the program, and an error by us', () => {
    const failed = shapes.result({ is_error: true, result: 'API Error: 500', terminal_reason: 'api_error' });
    expect(translate(failed).at(-1)).toEqual({
      kind: 'ended',
      end: { ok: false, code: 'api_error', message: 'API Error: 500' },
    });
  });

  test('an interrupted turn', () => {
    const { result: _, ...rest } = shapes.result({
      subtype: 'error_during_execution',
      is_error: true,
      terminal_reason: 'aborted_streaming',
    });
    expect(translate(rest).at(-1)).toMatchObject({
      end: { ok: false, code: 'aborted_streaming', message: 'error during execution' },
    });
  });

  test('without a login it says how to log in', () => {
    const [, ended] = translate(
      {
        type: 'assistant',
        message: { content: [{ type: 'text', text: 'Not logged in · Please run /login' }] },
        error: 'authentication_failed',
      },
      shapes.result({ is_error: true, result: 'Not logged in · Please run /login', terminal_reason: 'api_error' }),
    );
    expect(ended).toMatchObject({ end: { ok: false, code: 'not_logged_in' } });
    expect(ended).toHaveProperty('end.message', expect.stringMatching(/run `claude`.*ANTHROPIC_API_KEY.*Please run/));
  });

  test('a message that steers is known to be taken up', () => {
    const about = { type: 'command_lifecycle', command_uuid: 'u-1' };
    expect(translate({ ...about, state: 'queued' }, { ...about, state: 'started' })).toEqual([
      { kind: 'started', steered: 'u-1' },
    ]);
  });
});
