import { type Json, type JsonObject, unreachable } from '@concerto/base';
import type { JsonRpcId, Usage } from '@concerto/protocol';
import { type CodexFailure, CodexNotification, type CodexTokens, type Item } from '@concerto/protocol/codex';
import { log, type Said, said, saidCustom, thought } from '../driver-output.ts';
import { ThoughtPieces } from '../thought-pieces.ts';
import { isWork, itemCompleted, itemStarted } from './codex-items.ts';

/** What a notification means. */
export type CodexMeaning =
  | { readonly kind: 'say'; readonly output: Said }
  | { readonly kind: 'usage'; readonly usage: Usage; readonly turnId: string | undefined }
  | { readonly kind: 'resolved'; readonly requestId: JsonRpcId }
  | { readonly kind: 'ended'; readonly turnId: string; readonly end: CodexEnd };

export type CodexEnd =
  | { readonly kind: 'completed'; readonly text: string }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** Beside what we understand: says nothing that anybody waits for. */
const quiet =
  /^(thread\/(started|status|readState|settings|name|queue|goal|prediction|environment)|account\/|skills\/|remoteControl\/|app\/|hook\/|turn\/diff|item\/(commandExecution|fileChange)\/|rawResponse|model\/|process\/|fs\/)/;

const notLoggedIn =
  'codex is not logged in: run `codex login` in a terminal, or give this agent the key of its provider in its `env`';

/** Reads the notifications of one process in order. */
export class CodexTranslator {
  readonly #thought = new ThoughtPieces();
  /** Work that has begun and not ended, by id. */
  readonly #work = new Map<string, Item>();
  #message: string | undefined;
  #answer = '';
  #failure: CodexFailure | undefined;
  #total: CodexTokens | undefined;

  get work(): readonly Item[] {
    return [...this.#work.values()];
  }

  /** `thread` is ours: what is said of others is the business of the agents in them. */
  read(method: string, params: Json, thread: string | undefined): CodexMeaning[] {
    const parsed = CodexNotification.safeParse({ method, params });
    if (!parsed.success) return quiet.test(method) ? [] : says(log('debug', `codex: ${method}`));
    const { threadId } = parsed.data.params;
    return thread === undefined || threadId == null || threadId === thread ? this.#read(parsed.data) : [];
  }

  #read(notice: CodexNotification): CodexMeaning[] {
    switch (notice.method) {
      case 'turn/started':
        this.#answer = '';
        this.#message = undefined;
        this.#failure = undefined;
        return [];
      case 'turn/completed':
        return this.#completed(notice.params.turn);
      case 'turn/plan/updated':
        return says(planOf(notice.params));
      case 'item/started':
        return this.#itemStarted(notice.params.item);
      case 'item/completed':
        return this.#itemCompleted(notice.params.item);
      case 'item/agentMessage/delta':
      case 'item/plan/delta':
        return this.#words(notice.params.itemId, notice.params.delta);
      case 'item/reasoning/summaryTextDelta':
      case 'item/reasoning/textDelta': {
        const piece = this.#thought.push(notice.params.delta);
        return piece === undefined ? [] : says(thought(piece));
      }
      case 'item/reasoning/summaryPartAdded':
        return this.#restOfThought();
      case 'item/mcpToolCall/progress':
        return says(toolProgress(notice.params.itemId, notice.params.message));
      case 'thread/tokenUsage/updated':
        return this.#used(notice.params.tokenUsage, notice.params.turnId ?? undefined);
      case 'serverRequest/resolved':
        return [{ kind: 'resolved', requestId: notice.params.requestId }];
      case 'mcpServer/startupStatus/updated': {
        const { name, status, error } = notice.params;
        if (status !== 'failed') return [];
        return says(log('warn', `the server ${name} did not start: ${error ?? 'it does not say why'}`));
      }
      case 'error':
        if (notice.params.willRetry === true) return says(log('warn', `asking again: ${notice.params.error.message}`));
        this.#failure = notice.params.error;
        return [];
      case 'warning':
      case 'guardianWarning':
        return says(log('warn', notice.params.message));
      case 'configWarning': {
        const { summary, details } = notice.params;
        return says(log('warn', details == null ? summary : `${summary}: ${details}`));
      }
      default:
        return unreachable(notice);
    }
  }

  #itemStarted(item: Item): CodexMeaning[] {
    if (!isWork(item)) return this.#restOfThought();
    this.#work.set(item.id, item);
    return [...this.#restOfThought(), ...says(itemStarted(item))];
  }

  #words(itemId: string, delta: string): CodexMeaning[] {
    // Two messages are two paragraphs; joined, they would run into each other.
    const isNext = this.#message !== undefined && this.#message !== itemId;
    this.#message = itemId;
    if (delta === '') return [];
    const rest = this.#restOfThought();
    return [
      ...rest,
      ...says(...(isNext ? [said({ type: 'partial', text: '\n\n' })] : []), said({ type: 'partial', text: delta })),
    ];
  }

  #itemCompleted(item: Item): CodexMeaning[] {
    if ((item.type === 'agentMessage' || item.type === 'plan') && item.text != null) this.#answer = item.text;
    if (!this.#work.delete(item.id)) return [];
    return says(itemCompleted(item));
  }

  /** The program tells the sum of the thread, sometimes twice. */
  #used(
    { total, last }: { readonly total: CodexTokens; readonly last: CodexTokens },
    turnId: string | undefined,
  ): CodexMeaning[] {
    const before = this.#total ?? difference(total, last);
    this.#total = total;
    const { inputTokens, outputTokens, cachedInputTokens, cacheWriteInputTokens } = difference(total, before);
    if (inputTokens === 0 && outputTokens === 0) return [];
    const usage = {
      inputTokens,
      outputTokens,
      cacheReadTokens: cachedInputTokens ?? 0,
      cacheWriteTokens: cacheWriteInputTokens ?? 0,
    };
    return [{ kind: 'usage', usage, turnId }];
  }

  #completed(turn: {
    readonly id: string;
    readonly status: string;
    readonly error?: CodexFailure | null | undefined;
  }): CodexMeaning[] {
    const rest = this.#restOfThought();
    // What it did not get to say of its work: an interrupt leaves it open.
    this.#work.clear();
    return [...rest, { kind: 'ended', turnId: turn.id, end: this.#end(turn.status, turn.error ?? this.#failure) }];
  }

  #end(status: string, failure: CodexFailure | undefined): CodexEnd {
    if (status === 'completed') return { kind: 'completed', text: this.#answer };
    if (status === 'interrupted') return { kind: 'interrupted' };
    const code = codeOf(failure?.codexErrorInfo);
    const details = failure?.additionalDetails == null ? '' : ` (${failure.additionalDetails})`;
    const message = `${failure?.message ?? 'the turn failed'}${details}`;
    return { kind: 'failed', code, message: code === 'unauthorized' ? `${notLoggedIn} (${message})` : message };
  }

  #restOfThought(): CodexMeaning[] {
    const piece = this.#thought.take();
    return piece === undefined ? [] : says(thought(piece));
  }
}

function says(...outputs: readonly Said[]): CodexMeaning[] {
  return outputs.map((output) => ({ kind: 'say', output }));
}

function difference(total: CodexTokens, before: CodexTokens): CodexTokens {
  const less = (a: number | null | undefined, b: number | null | undefined): number => Math.max(0, (a ?? 0) - (b ?? 0));
  return {
    inputTokens: less(total.inputTokens, before.inputTokens),
    outputTokens: less(total.outputTokens, before.outputTokens),
    cachedInputTokens: less(total.cachedInputTokens, before.cachedInputTokens),
    cacheWriteInputTokens: less(total.cacheWriteInputTokens, before.cacheWriteInputTokens),
  };
}

function planOf({ plan, explanation }: Extract<CodexNotification, { method: 'turn/plan/updated' }>['params']): Said {
  const steps = plan.map(({ step, status }): JsonObject => ({ step, status }));
  return saidCustom('plan', { steps, ...(explanation == null ? {} : { explanation }) });
}

function toolProgress(callId: string, message: string): Said {
  return said({ type: 'progress', message, call_id: callId }, [
    { type: 'functionCallUpdate', callId, status: message },
  ]);
}

/** A word, or an object with one key that is the word. */
function codeOf(info: Json | null | undefined): string {
  if (typeof info === 'string') return info;
  const [key] = typeof info === 'object' && info !== null ? Object.keys(info) : [];
  return key ?? 'failed';
}
