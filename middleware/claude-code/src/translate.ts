import type { Json, JsonObject } from '@concerto/base';
import {
  type ClaudeMessage,
  type ClaudeQuestion,
  ClaudeQuestions,
  type ClaudeResult,
  describeTool,
  riskOfTool,
  shortened,
} from '@concerto/protocol';

/** What a message of the program means for whoever supervises it. */
export type Meaning =
  | { readonly kind: 'partial'; readonly text: string }
  | { readonly kind: 'progress'; readonly message: string; readonly stage: string }
  | { readonly kind: 'log'; readonly level: 'debug' | 'info' | 'warn'; readonly message: string }
  | {
      readonly kind: 'approval';
      readonly requestId: string;
      readonly description: string;
      readonly riskLevel: 'low' | 'medium' | 'high';
      readonly tool: string;
      readonly input: JsonObject;
    }
  | {
      readonly kind: 'questions';
      readonly requestId: string;
      readonly input: JsonObject;
      readonly questions: readonly ClaudeQuestion[];
    }
  /** A request that we cannot serve: it must be answered all the same, or the program waits for ever. */
  | { readonly kind: 'unserved'; readonly requestId: string; readonly subtype: string }
  /** The program no longer waits for this answer. */
  | { readonly kind: 'withdrawn'; readonly requestId: string }
  | { readonly kind: 'started'; readonly steered: string }
  | { readonly kind: 'session'; readonly sessionId: string }
  | { readonly kind: 'ended'; readonly end: End };

export type End =
  | { readonly ok: true; readonly text: string; readonly bill: Bill }
  | { readonly ok: false; readonly code: string; readonly message: string };

export type Bill = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the whole session so far. */
  readonly totalCost: number;
  readonly turns: number;
  readonly denied: readonly string[];
};

const notLoggedIn =
  'claude is not logged in: run `claude` in a terminal and log in, or set ANTHROPIC_API_KEY for this agent';

/** Reads the messages of one process in order. */
export class Translator {
  #hasText = false;
  #introduced = false;
  #cannotAuthenticate = false;

  read(message: ClaudeMessage): Meaning[] {
    switch (message.type) {
      case 'stream_event':
        return this.#stream(message);
      case 'assistant':
        if (message.error === 'authentication_failed') this.#cannotAuthenticate = true;
        return toolUses(message);
      case 'user':
        return failedTools(message);
      case 'system':
        return this.#system(message);
      case 'control_request':
        return [controlRequest(message)];
      case 'control_cancel_request':
        return [{ kind: 'withdrawn', requestId: message.request_id }];
      case 'control_response':
        return [];
      case 'command_lifecycle':
        return message.state === 'started' ? [{ kind: 'started', steered: message.command_uuid }] : [];
      case 'result':
        return this.#result(message);
    }
  }

  #stream(message: Extract<ClaudeMessage, { type: 'stream_event' }>): Meaning[] {
    // What a subagent says to the agent is not the agent's answer.
    if (typeof message.parent_tool_use_id === 'string') return [];
    const { event } = message;
    if (event.type === 'content_block_start' && event.content_block?.type === 'text') {
      // Two blocks are two paragraphs; joined, they would run into each other.
      return this.#hasText ? [{ kind: 'partial', text: '\n\n' }] : [];
    }
    if (event.type !== 'content_block_delta' || event.delta?.type !== 'text_delta') return [];
    const { text } = event.delta;
    if (text === undefined || text === '') return [];
    this.#hasText = true;
    return [{ kind: 'partial', text }];
  }

  #system(message: Extract<ClaudeMessage, { type: 'system' }>): Meaning[] {
    if (message.subtype === 'api_retry') {
      return [{ kind: 'log', level: 'warn', message: `asking again: ${message.error ?? 'the model did not answer'}` }];
    }
    if (message.subtype !== 'init') return [];
    const session: Meaning[] =
      message.session_id === undefined ? [] : [{ kind: 'session', sessionId: message.session_id }];
    // It comes again with every turn.
    if (this.#introduced) return session;
    this.#introduced = true;
    const version = message.claude_code_version ?? '(unknown version)';
    return [
      ...session,
      {
        kind: 'log',
        level: 'debug',
        message: `Claude Code ${version} with ${message.model ?? 'its default model'}`,
      },
    ];
  }

  #result(message: ClaudeResult): Meaning[] {
    this.#hasText = false;
    const cannotAuthenticate = this.#cannotAuthenticate || message.api_error_type === 'authentication_error';
    this.#cannotAuthenticate = false;
    const session: Meaning[] =
      message.session_id === undefined ? [] : [{ kind: 'session', sessionId: message.session_id }];
    // A failed request to the model is a "success" with `is_error`.
    if (message.subtype === 'success' && message.is_error !== true) {
      return [...session, { kind: 'ended', end: { ok: true, text: message.result ?? '', bill: bill(message) } }];
    }
    const said = message.result ?? message.errors?.join('; ') ?? message.subtype.replaceAll('_', ' ');
    const code = message.terminal_reason ?? message.subtype;
    return [
      ...session,
      {
        kind: 'ended',
        end: cannotAuthenticate
          ? { ok: false, code: 'not_logged_in', message: `${notLoggedIn} (${said})` }
          : { ok: false, code, message: said },
      },
    ];
  }
}

function bill(message: ClaudeResult): Bill {
  const { usage = {} } = message;
  const input = [usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens];
  return {
    inputTokens: input.reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0),
    outputTokens: usage.output_tokens ?? 0,
    totalCost: message.total_cost_usd ?? 0,
    turns: message.num_turns ?? 0,
    denied: (message.permission_denials ?? []).map((denial) => denial.tool_name ?? '(unknown tool)'),
  };
}

function toolUses(message: Extract<ClaudeMessage, { type: 'assistant' }>): Meaning[] {
  return blocksOf(message.message.content).flatMap((block): Meaning[] => {
    // A question is shown as a question.
    if (block.type !== 'tool_use' || block.name === undefined || block.name === 'AskUserQuestion') return [];
    return [{ kind: 'progress', message: describeTool(block.name, block.input ?? {}), stage: block.name }];
  });
}

function failedTools(message: Extract<ClaudeMessage, { type: 'user' }>): Meaning[] {
  return blocksOf(message.message.content).flatMap((block): Meaning[] => {
    if (block.type !== 'tool_result' || block.is_error !== true) return [];
    return [{ kind: 'log', level: 'warn', message: `a tool failed: ${shortened(textIn(block.content))}` }];
  });
}

function controlRequest(message: Extract<ClaudeMessage, { type: 'control_request' }>): Meaning {
  const { request_id: requestId, request } = message;
  if (request.subtype !== 'can_use_tool') return { kind: 'unserved', requestId, subtype: request.subtype };
  const { tool_name: tool = '(unknown tool)', input = {} } = request;
  if (tool === 'AskUserQuestion') {
    const asked = ClaudeQuestions.safeParse(input);
    if (asked.success) return { kind: 'questions', requestId, input, questions: asked.data.questions };
  }
  return {
    kind: 'approval',
    requestId,
    description: describeTool(tool, input),
    riskLevel: riskOfTool(tool),
    tool,
    input,
  };
}

function blocksOf<Block>(content: string | readonly Block[] | undefined): readonly Block[] {
  return content === undefined || typeof content === 'string' ? [] : content;
}

function textIn(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return JSON.stringify(content ?? '');
  const parts: readonly Json[] = content;
  return parts
    .map((part) => {
      const isText = typeof part === 'object' && part !== null && !Array.isArray(part) && 'text' in part;
      return isText && typeof part.text === 'string' ? part.text : JSON.stringify(part);
    })
    .join(' ');
}
