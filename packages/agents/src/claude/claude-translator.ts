import type { Json, JsonObject } from '@concerto/base';
import {
  type ClaudeBlock,
  type ClaudeLine,
  type ClaudeMessage,
  type ClaudeQuestion,
  ClaudeQuestions,
  type ClaudeResult,
  describeTool,
  shortened,
  type Usage,
} from '@concerto/protocol';
import { log, type Said, said, thought, toolCall, toolResult } from '../driver-output.ts';
import { ThoughtPieces } from '../thought-pieces.ts';

/** What a line of the program means. */
export type ClaudeMeaning =
  | { readonly kind: 'say'; readonly output: Said }
  | { readonly kind: 'asked'; readonly requestId: string; readonly request: ClaudeRequest }
  /** The program no longer waits for this answer. */
  | { readonly kind: 'withdrawn'; readonly requestId: string }
  /** To a request of ours. */
  | { readonly kind: 'answered'; readonly requestId: string; readonly response: Json; readonly error?: string }
  /** A message of ours that came while it was at work; no more is heard of one that is dropped. */
  | { readonly kind: 'queued' | 'taken-up' | 'dropped'; readonly uuid: string }
  | { readonly kind: 'conversation'; readonly id: string; readonly version: string | undefined }
  | { readonly kind: 'ended'; readonly end: ClaudeEnd };

export type ClaudeRequest =
  | { readonly kind: 'tool'; readonly tool: string; readonly input: JsonObject }
  | { readonly kind: 'questions'; readonly input: JsonObject; readonly questions: readonly ClaudeQuestion[] }
  | { readonly kind: 'hook'; readonly tool: string }
  /** One that we cannot serve: it must be answered all the same, or the program waits for ever. */
  | { readonly kind: 'unserved'; readonly subtype: string };

export type ClaudeEnd = {
  readonly bill: ClaudeBill;
  readonly outcome:
    | { readonly ok: true; readonly text: string }
    | { readonly ok: false; readonly code: string; readonly message: string; readonly isAborted: boolean };
};

export type ClaudeBill = {
  readonly usage: Usage;
  /** Of the whole conversation so far, in dollars. */
  readonly totalCost: number;
  readonly turns: number;
  readonly denied: readonly string[];
};

const notLoggedIn =
  'claude is not logged in: run `claude` in a terminal and log in, or give this agent ANTHROPIC_API_KEY in its `env`';

/** Says nothing that anybody waits for. */
const quietSystem: ReadonlySet<string> = new Set(['init', 'status', 'hook_started', 'hook_progress', 'hook_response']);
/** What becomes of a message; any other word for it means that it will not be worked on. */
const lifecycle: Readonly<Record<string, 'queued' | 'taken-up'>> = {
  queued: 'queued',
  started: 'taken-up',
  completed: 'taken-up',
};
const quietTypes: ReadonlySet<string> = new Set(['keep_alive', 'rate_limit_event', 'tool_progress', 'auth_status']);

/** Reads the lines of one process in order. */
export class ClaudeTranslator {
  readonly #thought = new ThoughtPieces();
  /** Names of the tools whose results are still to come. */
  readonly #calls = new Map<string, string>();
  #hasText = false;
  #introduced = false;
  #cannotAuthenticate = false;

  read(line: ClaudeLine): ClaudeMeaning[] {
    switch (line.kind) {
      case 'message':
        return this.#message(line.message);
      case 'unknown':
        if (quietTypes.has(line.type)) return [];
        return says(log('debug', `claude: ${line.type}`, { data: line.raw }));
      case 'text':
        return line.text.trim() === '' ? [] : says(log('info', line.text));
    }
  }

  #message(message: ClaudeMessage): ClaudeMeaning[] {
    switch (message.type) {
      case 'stream_event':
        return this.#stream(message);
      case 'assistant':
        if (message.error === 'authentication_failed') this.#cannotAuthenticate = true;
        return [...this.#restOfThought(), ...this.#toolUses(message)];
      case 'user':
        return this.#toolResults(message);
      case 'system':
        return this.#system(message);
      case 'control_request':
        return [{ kind: 'asked', requestId: message.request_id, request: requestOf(message.request) }];
      case 'control_cancel_request':
        return [{ kind: 'withdrawn', requestId: message.request_id }];
      case 'control_response': {
        const { request_id: requestId, error, response = null } = message.response;
        return [{ kind: 'answered', requestId, response, ...(error === undefined ? {} : { error }) }];
      }
      case 'command_lifecycle':
        return [{ kind: lifecycle[message.state] ?? 'dropped', uuid: message.command_uuid }];
      case 'result':
        return [...this.#restOfThought(), { kind: 'ended', end: this.#end(message) }];
    }
  }

  #stream({ event, parent_tool_use_id: parent }: Extract<ClaudeMessage, { type: 'stream_event' }>): ClaudeMeaning[] {
    // What a subagent says to the agent is not the agent's answer.
    if (typeof parent === 'string') return [];
    if (event.type === 'content_block_start' && event.content_block?.type === 'text') {
      // Two blocks are two paragraphs; joined, they would run into each other.
      return [...this.#restOfThought(), ...(this.#hasText ? says(said({ type: 'partial', text: '\n\n' })) : [])];
    }
    if (event.type !== 'content_block_delta') return [];
    const { type, text, thinking } = event.delta ?? {};
    if (type === 'thinking_delta' && thinking !== undefined) {
      const piece = this.#thought.push(thinking);
      return piece === undefined ? [] : says(thought(piece));
    }
    if (type !== 'text_delta' || text === undefined || text === '') return [];
    this.#hasText = true;
    return says(said({ type: 'partial', text }));
  }

  #restOfThought(): ClaudeMeaning[] {
    const piece = this.#thought.take();
    return piece === undefined ? [] : says(thought(piece));
  }

  #toolUses(message: Extract<ClaudeMessage, { type: 'assistant' }>): ClaudeMeaning[] {
    const parent = message.parent_tool_use_id;
    return blocksOf(message.message.content).flatMap((block): ClaudeMeaning[] => {
      const { type, id, name, input = {} } = block;
      // A question is shown as a question.
      if (type !== 'tool_use' || id === undefined || name === undefined || name === 'AskUserQuestion') return [];
      const what = describeTool(name, input);
      if (typeof parent === 'string') return says(subagentProgress(parent, what));
      this.#calls.set(id, name);
      return says(toolCall({ id, name, input, what }));
    });
  }

  #toolResults(message: Extract<ClaudeMessage, { type: 'user' }>): ClaudeMeaning[] {
    return blocksOf(message.message.content).flatMap((block): ClaudeMeaning[] => {
      const id = block.tool_use_id;
      const name = id === undefined ? undefined : this.#calls.get(id);
      if (block.type !== 'tool_result' || id === undefined || name === undefined) return [];
      this.#calls.delete(id);
      return says(toolResult({ id, name }, { text: textIn(block.content), failed: block.is_error === true }));
    });
  }

  #system(message: Extract<ClaudeMessage, { type: 'system' }>): ClaudeMeaning[] {
    const { subtype, session_id: id, claude_code_version: version, model = 'its default model', error } = message;
    if (subtype === 'api_retry') return says(log('warn', `asking again: ${error ?? 'the model did not answer'}`));
    if (subtype === 'compact_boundary') return says(log('info', 'the conversation was summarised to make room'));
    if (!quietSystem.has(subtype)) return says(log('debug', `claude: ${subtype}`));
    if (subtype !== 'init' || id === undefined) return [];
    const named: ClaudeMeaning = { kind: 'conversation', id, version };
    // It comes again with every turn.
    if (this.#introduced) return [named];
    this.#introduced = true;
    const absent = (message.mcp_servers ?? []).filter(({ status }) => status !== 'connected');
    const warnings = absent.map(({ name, status }) =>
      log('warn', `the server ${name} is not there: ${status ?? 'unknown'}`),
    );
    return [named, ...says(log('debug', `Claude Code ${version ?? '(unknown version)'} with ${model}`), ...warnings)];
  }

  #end(message: ClaudeResult): ClaudeEnd {
    this.#hasText = false;
    this.#calls.clear();
    const cannotAuthenticate = this.#cannotAuthenticate || message.api_error_type === 'authentication_error';
    this.#cannotAuthenticate = false;
    const bill = billOf(message);
    // A failed request to the model is a "success" with `is_error`.
    if (message.subtype === 'success' && message.is_error !== true) {
      return { bill, outcome: { ok: true, text: message.result ?? '' } };
    }
    const why = message.result ?? message.errors?.join('; ') ?? message.subtype.replaceAll('_', ' ');
    const code = message.terminal_reason ?? message.subtype;
    if (cannotAuthenticate) {
      const outcome = {
        ok: false,
        code: 'not_logged_in',
        message: `${notLoggedIn} (${why})`,
        isAborted: false,
      } as const;
      return { bill, outcome };
    }
    return { bill, outcome: { ok: false, code, message: why, isAborted: code.startsWith('aborted') } };
  }
}

function says(...outputs: readonly Said[]): ClaudeMeaning[] {
  return outputs.map((output) => ({ kind: 'say', output }));
}

/** A subagent's work is part of the call that started it. */
function subagentProgress(callId: string, what: string): Said {
  return said({ type: 'progress', message: what, stage: 'subagent', call_id: callId }, [
    { type: 'functionCallUpdate', callId, status: what },
  ]);
}

function requestOf(request: Extract<ClaudeMessage, { type: 'control_request' }>['request']): ClaudeRequest {
  const { subtype, tool_name: tool = '(unknown tool)', input = {} } = request;
  if (subtype === 'hook_callback') {
    const named = input.tool_name;
    return { kind: 'hook', tool: typeof named === 'string' ? named : tool };
  }
  if (subtype !== 'can_use_tool') return { kind: 'unserved', subtype };
  const asked = tool === 'AskUserQuestion' ? ClaudeQuestions.safeParse(input) : undefined;
  if (asked?.success === true) return { kind: 'questions', input, questions: asked.data.questions };
  return { kind: 'tool', tool, input };
}

function billOf({ usage = {}, total_cost_usd, num_turns, permission_denials = [] }: ClaudeResult): ClaudeBill {
  const cacheReadTokens = usage.cache_read_input_tokens ?? 0;
  const cacheWriteTokens = usage.cache_creation_input_tokens ?? 0;
  return {
    usage: {
      // The program counts what it has from its cache apart.
      inputTokens: (usage.input_tokens ?? 0) + cacheReadTokens + cacheWriteTokens,
      outputTokens: usage.output_tokens ?? 0,
      cacheReadTokens,
      cacheWriteTokens,
    },
    totalCost: total_cost_usd ?? 0,
    turns: num_turns ?? 0,
    denied: permission_denials.map(({ tool_name: tool = '(unknown tool)' }) => tool),
  };
}

function blocksOf(content: string | readonly ClaudeBlock[] | undefined): readonly ClaudeBlock[] {
  return content === undefined || typeof content === 'string' ? [] : content;
}

function textIn(content: Json | undefined): string {
  if (content === undefined) return '';
  if (typeof content === 'string') return content;
  const parts: readonly Json[] = Array.isArray(content) ? content : [content];
  return parts.map(textOfPart).join('\n');
}

/** A picture or the like is named, not shown. */
function textOfPart(part: Json): string {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return shortened(JSON.stringify(part));
  if ('text' in part && typeof part.text === 'string') return part.text;
  return `[${'type' in part && typeof part.type === 'string' ? part.type : 'content'}]`;
}
