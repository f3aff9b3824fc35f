import type { Json, JsonObject } from '@concerto/base';
import { type ClaudeBlock, type ClaudeLine, type ClaudeMessage, type ClaudeResult } from '@concerto/protocol';
import type { AgentOutput } from '../agent-connection.ts';
import { agentInfo, askedAgain, limited, log, type Said, said, thought, toolResult } from '../driver-output.ts';
import { memberOf } from '../json-member.ts';
import { ThoughtPieces } from '../thought-pieces.ts';
import { ClaudePlan, planTools } from './claude-plan.ts';
import { type ClaudeRequest, claudeRequest } from './claude-request.ts';
import { ClaudeTasks, taskProgress } from './claude-tasks.ts';
import { claudeCall, claudeOutcome } from './claude-tools.ts';
import { loopWakeup, sleepOf, sleepTool } from './claude-wakeup.ts';

/** What a line of the program means. */
export type ClaudeMeaning =
  | { readonly kind: 'say'; readonly output: AgentOutput }
  | { readonly kind: 'asked'; readonly requestId: string; readonly request: ClaudeRequest }
  /** The program no longer waits for this answer. */
  | { readonly kind: 'withdrawn'; readonly requestId: string }
  /** To a request of ours. */
  | { readonly kind: 'answered'; readonly requestId: string; readonly response: Json; readonly error?: string }
  /** A message of ours that came while it was at work; no more is heard of one that is dropped. */
  | { readonly kind: 'queued' | 'taken-up' | 'dropped'; readonly uuid: string }
  /** A message of the model is over, and what it has used is known. */
  | { readonly kind: 'spent' }
  | { readonly kind: 'conversation'; readonly id: string; readonly version: string | undefined }
  /** A tool is used, and was: for the session's rules. */
  | { readonly kind: 'used'; readonly callId: string; readonly tool: string }
  | { readonly kind: 'was-used'; readonly callId: string; readonly isDone: boolean }
  /** It begins to work, at what we asked or by itself. */
  | { readonly kind: 'begun' }
  /** Its model is to be woken, at the latest after this time; and is, at a time that was set. */
  | { readonly kind: 'sleeps'; readonly withinMs: number }
  | { readonly kind: 'woken' }
  /** What runs in the background has changed. */
  | { readonly kind: 'background' }
  | { readonly kind: 'ended'; readonly end: ClaudeEnd };

export type ClaudeEnd = {
  readonly result: ClaudeResult;
  /** The message that was streamed last. */
  readonly message: string | undefined;
  /** How full the model's window was at its last word. */
  readonly contextUsed: number | undefined;
  readonly outcome:
    | { readonly ok: true; readonly text: string }
    | { readonly ok: false; readonly code: string; readonly message: string };
};

const notLoggedIn =
  'claude is not logged in: run `claude` in a terminal and log in, or give this agent ANTHROPIC_API_KEY in its `env`';

/** Says nothing that anybody waits for; `thinking_tokens` alone would be most of a log. */
const quietSystem: ReadonlySet<string> = new Set([
  'init',
  'status',
  'thinking_tokens',
  'hook_started',
  'hook_progress',
  'hook_response',
  'task_started',
  'task_updated',
  'task_notification',
  'background_tasks_changed',
]);
/** What becomes of a message; any other word for it means that it will not be worked on. */
const lifecycle: Readonly<Record<string, 'queued' | 'taken-up'>> = {
  queued: 'queued',
  started: 'taken-up',
  completed: 'taken-up',
};
const quietTypes: ReadonlySet<string> = new Set(['keep_alive', 'tool_progress', 'auth_status']);
type Call = { readonly name: string; readonly input: JsonObject };

/** Reads the lines of one process in order. */
export class ClaudeTranslator {
  readonly tasks = new ClaudeTasks();
  /** What the program calls the last message of its model. */
  lastUuid: string | undefined;
  readonly #folder: string;
  readonly #thought = new ThoughtPieces();
  /** The calls whose results are still to come. */
  readonly #calls = new Map<string, Call>();
  readonly #plan = new ClaudePlan();
  /** What we do not know is told once: some of it comes with every word. */
  readonly #unknown = new Set<string>();
  #message: string | undefined;
  /** The message that comes word by word, and is told whole after it. */
  #live: string | undefined;
  #hasText = false;
  #streamed: string | undefined;
  #contextUsed: number | undefined;
  #introduced = false;
  #cannotAuthenticate = false;

  constructor(folder = '.') {
    this.#folder = folder;
  }

  read(line: ClaudeLine): ClaudeMeaning[] {
    switch (line.kind) {
      case 'message':
        return this.#read(line.message);
      case 'unknown':
        if (line.type === 'rate_limit_event') return this.#limited(line.raw);
        if (quietTypes.has(line.type) || !this.#isNews(line.type)) return [];
        return says(log('debug', `claude: ${line.type}`, { data: line.raw }));
      case 'text':
        return line.text.trim() === '' ? [] : says(log('info', line.text));
    }
  }

  /** The calls that the program did not get to tell the end of: an interrupt leaves them open. */
  close(): readonly Said[] {
    this.tasks.clear();
    const open = [...this.#calls].filter(([, { name }]) => !planTools.has(name));
    this.#calls.clear();
    return open.map(([id, { name }]) =>
      toolResult({ id, name }, { text: 'cancelled', failed: true, outcome: 'cancelled' }),
    );
  }

  /** The time at which its model was to be woken has passed. */
  overslept(): readonly Said[] {
    return this.#wakes('it was not woken');
  }

  #read(message: ClaudeMessage): ClaudeMeaning[] {
    switch (message.type) {
      case 'stream_event':
        return this.#stream(message);
      case 'assistant':
        if (message.error === 'authentication_failed') this.#cannotAuthenticate = true;
        if (message.parent_tool_use_id == null) this.lastUuid = message.uuid ?? this.lastUuid;
        return [...this.#restOfThought(), ...this.#blocks(message)];
      case 'user':
        return this.#toolResults(message);
      case 'system':
        return this.#system(message);
      case 'control_request':
        return [{ kind: 'asked', requestId: message.request_id, request: claudeRequest(message.request) }];
      case 'control_cancel_request':
        return [{ kind: 'withdrawn', requestId: message.request_id }];
      case 'control_response': {
        const { request_id: requestId, error, response = null } = message.response;
        return [{ kind: 'answered', requestId, response, ...(error === undefined ? {} : { error }) }];
      }
      case 'command_lifecycle': {
        const { command_uuid: uuid, state, wakeup_source: source } = message;
        if (source !== undefined)
          return [...says(...(source === loopWakeup ? this.#wakes('woken') : [])), { kind: 'woken' }];
        return [{ kind: lifecycle[state] ?? 'dropped', uuid }];
      }
      case 'result':
        return [...this.#restOfThought(), { kind: 'ended', end: this.#end(message) }];
    }
  }

  #stream({ event, parent_tool_use_id: parent }: Extract<ClaudeMessage, { type: 'stream_event' }>): ClaudeMeaning[] {
    // Of a sub-agent's words the whole message tells.
    if (typeof parent === 'string') return [];
    if (event.type === 'message_start') {
      // What a message that broke off has thought is its own.
      const rest = this.#restOfThought();
      this.#message = event.message?.id;
      this.#live = this.#message;
      return rest;
    }
    if (event.type === 'message_delta' && event.usage !== undefined) {
      const { input_tokens = 0, output_tokens = 0, cache_read_input_tokens = 0 } = event.usage;
      this.#contextUsed =
        input_tokens + output_tokens + cache_read_input_tokens + (event.usage.cache_creation_input_tokens ?? 0);
      return [{ kind: 'spent' }];
    }
    if (event.type === 'content_block_start' && event.content_block?.type === 'text') {
      return [...this.#restOfThought(), ...this.#paragraph()];
    }
    if (event.type !== 'content_block_delta') return [];
    const { type, text, thinking } = event.delta ?? {};
    if (type === 'thinking_delta' && thinking !== undefined) {
      const piece = this.#thought.push(thinking);
      return piece === undefined ? [] : says(thought(piece, this.#message));
    }
    if (type !== 'text_delta' || text === undefined || text === '') return [];
    this.#hasText = true;
    this.#streamed = this.#message;
    return says(partial(text, this.#message));
  }

  /** Two blocks are two paragraphs: joined, they would run into each other. Two messages are apart already, to a session. */
  #paragraph(): ClaudeMeaning[] {
    if (!this.#hasText) return [];
    const gap = partial('\n\n', this.#message);
    return says(this.#streamed === this.#message ? gap : { ...gap, shown: [] });
  }

  #restOfThought(): ClaudeMeaning[] {
    const piece = this.#thought.take();
    return piece === undefined ? [] : says(thought(piece, this.#message));
  }

  #blocks(message: Extract<ClaudeMessage, { type: 'assistant' }>): ClaudeMeaning[] {
    const parent = message.parent_tool_use_id ?? undefined;
    const { id: messageId } = message.message;
    // Where its stream broke off the program asks again without one; what it says of a failure comes with the result.
    const isWhole = messageId !== undefined && messageId !== this.#live && message.error === undefined;
    return blocksOf(message.message.content).flatMap((block): ClaudeMeaning[] => {
      const { type, id, name, input = {}, text } = block;
      if (parent !== undefined && text !== undefined && text !== '') return says(subagentText(parent, type, text));
      const words = parent === undefined && isWhole ? this.#unstreamed(block, messageId) : undefined;
      if (words !== undefined) return words;
      // A question is shown as a question.
      if (type !== 'tool_use' || id === undefined || name === undefined || name === 'AskUserQuestion') return [];
      this.#calls.set(id, { name, input });
      const used: ClaudeMeaning = { kind: 'used', callId: id, tool: name };
      if (planTools.has(name)) return [used];
      return [...says(claudeCall({ id, name, input, messageId: message.message.id, parent }, this.#folder)), used];
    });
  }

  /** Words that did not come one by one. */
  #unstreamed({ type, text, thinking }: ClaudeBlock, messageId: string): ClaudeMeaning[] | undefined {
    if (type === 'thinking' && typeof thinking === 'string') return says(thought(thinking, messageId));
    if (type !== 'text' || text === undefined || text === '') return undefined;
    this.#message = messageId;
    const gap = this.#paragraph();
    this.#hasText = true;
    this.#streamed = messageId;
    return [...gap, ...says(partial(text, messageId))];
  }

  #toolResults(message: Extract<ClaudeMessage, { type: 'user' }>): ClaudeMeaning[] {
    return blocksOf(message.message.content).flatMap((block): ClaudeMeaning[] => {
      const { tool_use_id: id } = block;
      const call = id === undefined ? undefined : this.#calls.get(id);
      if (block.type !== 'tool_result' || id === undefined || call === undefined) return [];
      const wasUsed: ClaudeMeaning = { kind: 'was-used', callId: id, isDone: block.is_error !== true };
      if (planTools.has(call.name)) {
        this.#calls.delete(id);
        if (block.is_error === true) return [wasUsed];
        return [wasUsed, ...says(...this.#plan.planned(call, message.tool_use_result))];
      }
      // It goes on in the background, whatever the program says of it at once.
      if (this.tasks.holds(id)) return [wasUsed, ...says(update(id, 'in the background'))];
      const isSleep = call.name === sleepTool && block.is_error !== true;
      const sleep = isSleep ? sleepOf(message.tool_use_result) : undefined;
      const awake = isSleep ? says(...this.#wakes('it is not woken then', sleep === undefined ? undefined : id)) : [];
      if (sleep !== undefined) {
        return [
          wasUsed,
          ...awake,
          ...says(update(id, `until ${sleep.until}`)),
          { kind: 'sleeps', withinMs: sleep.withinMs },
        ];
      }
      this.#calls.delete(id);
      const decision = message.tool_result_meta?.find((meta) => meta.id === id)?.permission_decision;
      const outcome = claudeOutcome(block, message.tool_use_result, decision);
      return [...awake, ...says(toolResult({ id, name: call.name }, outcome)), wasUsed];
    });
  }

  /** The call that slept ends; `next` sleeps from now on. */
  #wakes(why: string, next?: string): readonly Said[] {
    const id = this.tasks.sleeps(next);
    if (id === undefined || !this.#calls.delete(id)) return [];
    return [toolResult({ id, name: sleepTool }, { text: why, failed: false })];
  }

  #system(message: Extract<ClaudeMessage, { type: 'system' }>): ClaudeMeaning[] {
    const { subtype } = message;
    if (subtype === 'api_retry') {
      const { error: why, error_status: status, attempt, max_retries: most, retry_delay_ms: waitsMs } = message;
      return says(askedAgain({ why, status, attempt, most, waitsMs }));
    }
    if (subtype === 'compact_boundary') return says(log('info', 'the conversation was summarised to make room'));
    if (subtype === 'task_progress') return says(...[taskProgress(message)].filter((output) => output !== undefined));
    if (subtype === 'status' && message.status === 'requesting') this.tasks.told();
    if (subtype.startsWith('task_') || subtype === 'background_tasks_changed') return this.#task(message);
    if (subtype === 'init') return this.#init(message);
    if (quietSystem.has(subtype) || !this.#isNews(subtype)) return [];
    return says(log('debug', `claude: ${subtype}`));
  }

  #limited(raw: JsonObject): ClaudeMeaning[] {
    const info = memberOf(raw, 'rate_limit_info');
    const [status, type, resetsAt] = ['status', 'rateLimitType', 'resetsAt'].map((key) => memberOf(info, key));
    const kept = agentInfo({ extra: { rate_limit: raw } });
    const isCalm = status === undefined || status === null || status === 'allowed';
    if (isCalm || !this.#isNews(`limit ${JSON.stringify([status, type, resetsAt])}`)) return says(kept);
    const resets = typeof resetsAt === 'number' ? resetsAt : undefined;
    return says(kept, limited(typeof type === 'string' ? type : 'requests', status === 'rejected', resets));
  }

  #task(message: Extract<ClaudeMessage, { type: 'system' }>): ClaudeMeaning[] {
    const ended = this.tasks.read(message);
    const changed: ClaudeMeaning = { kind: 'background' };
    const call = ended === undefined ? undefined : this.#calls.get(ended.callId);
    if (ended === undefined || call === undefined) return [changed];
    this.#calls.delete(ended.callId);
    return [...says(toolResult({ id: ended.callId, name: call.name }, ended.outcome)), changed];
  }

  #init(message: Extract<ClaudeMessage, { type: 'system' }>): ClaudeMeaning[] {
    const { session_id: id, claude_code_version: version, model = 'its default model', permissionMode: mode } = message;
    this.tasks.told();
    const begun: ClaudeMeaning = { kind: 'begun' };
    if (id === undefined) return [begun];
    const named: ClaudeMeaning = { kind: 'conversation', id, version };
    // It comes again with every turn.
    if (this.#introduced) return [begun, named];
    this.#introduced = true;
    const absent = (message.mcp_servers ?? []).filter(({ status }) => status !== 'connected');
    const warnings = absent.map(({ name, status }) =>
      log('warn', `the server ${name} is not there: ${status ?? 'unknown'}`),
    );
    const { cwd, tools, apiKeySource, output_style, agents, skills, plugins, mcp_servers } = message;
    const extra = { cwd, tools, apiKeySource, output_style, agents, skills, plugins, mcp_servers };
    const info = agentInfo({
      model,
      ...(mode === undefined ? {} : { mode }),
      ...(version === undefined ? {} : { version }),
      extra: JSON.parse(JSON.stringify(extra)),
    });
    const told = log('debug', `Claude Code ${version ?? '(unknown version)'} with ${model}`);
    return [begun, named, ...says(told, info, ...warnings)];
  }

  #end(result: ClaudeResult): ClaudeEnd {
    this.#hasText = false;
    const cannotAuthenticate = this.#cannotAuthenticate || result.api_error_type === 'authentication_error';
    this.#cannotAuthenticate = false;
    const end = { result, message: this.#streamed, contextUsed: this.#contextUsed };
    this.#streamed = undefined;
    // A failed request to the model is a "success" with `is_error`.
    if (result.subtype === 'success' && result.is_error !== true) {
      return { ...end, outcome: { ok: true, text: result.result ?? '' } };
    }
    const why = result.result ?? result.errors?.join('; ') ?? result.subtype.replaceAll('_', ' ');
    const code = result.terminal_reason ?? result.subtype;
    const outcome = cannotAuthenticate
      ? ({ ok: false, code: 'not_logged_in', message: `${notLoggedIn} (${why})` } as const)
      : ({ ok: false, code, message: why } as const);
    return { ...end, outcome };
  }

  #isNews(type: string): boolean {
    if (this.#unknown.has(type)) return false;
    this.#unknown.add(type);
    return true;
  }
}

function says(...outputs: readonly AgentOutput[]): ClaudeMeaning[] {
  return outputs.map((output) => ({ kind: 'say', output }));
}

function partial(text: string, message: string | undefined): Said {
  return said({ type: 'partial', text, ...(message === undefined ? {} : { message }) });
}

/** What a sub-agent says to its agent belongs to the call that began it. */
function subagentText(callId: string, type: string, text: string): Said {
  return said({ type: 'log', level: 'debug', message: text, stage: 'subagent', call_id: callId }, [
    { type: 'subagentAddJson', callId, title: type, data: text },
  ]);
}

function update(callId: string, status: string): Said {
  return said({ type: 'progress', message: status, stage: 'subagent', call_id: callId }, [
    { type: 'functionCallUpdate', callId, status },
  ]);
}

function blocksOf(content: string | readonly ClaudeBlock[] | undefined): readonly ClaudeBlock[] {
  return content === undefined || typeof content === 'string' ? [] : content;
}
