import { type Json, type JsonObject, unreachable } from '@concerto/base';
import type { JsonRpcId, Usage, UsageSource } from '@concerto/protocol';
import { type CodexFailure, CodexNotification, type CodexTokens, type Item } from '@concerto/protocol/codex';
import type { AgentOutput } from '../agent-connection.ts';
import { agentInfo, askedAgain, limited, log, plan, type Said, said, thought } from '../driver-output.ts';
import { memberOf } from '../json-member.ts';
import { ThoughtPieces } from '../thought-pieces.ts';
import { isDelegation, isWork, itemCancelled, itemCompleted, itemStarted } from './codex-items.ts';
import { CodexThreads } from './codex-threads.ts';

/** What a notification means. */
export type CodexMeaning =
  | { readonly kind: 'say'; readonly output: AgentOutput }
  /** Work, as it begins and ends, and what it writes. */
  | { readonly kind: 'began' | 'done'; readonly item: Item }
  | { readonly kind: 'output'; readonly callId: string; readonly text: string }
  | {
      readonly kind: 'usage';
      readonly usage: Usage;
      readonly source: UsageSource;
      readonly turnId: string | undefined;
      /** Of what was written, what was thought. */
      readonly thoughtTokens: number;
    }
  /** It asks, and does not wait for the answer. */
  | { readonly kind: 'asks'; readonly item: Item }
  | { readonly kind: 'resolved'; readonly requestId: JsonRpcId }
  | { readonly kind: 'begun'; readonly turnId: string }
  | { readonly kind: 'ended'; readonly turnId: string; readonly end: CodexEnd }
  /** A sub-agent has ended its work, or its goal has changed. */
  | { readonly kind: 'background' };

export type CodexEnd =
  | {
      readonly kind: 'completed';
      readonly text: string;
      readonly message: string | undefined;
      readonly durationMs?: number;
    }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

type CodexTurn = Extract<CodexNotification, { method: 'turn/completed' }>['params']['turn'];

/** Beside what we understand: says nothing that anybody waits for. */
const quiet =
  /^(thread\/(started|status|readState|settings|name|queue|goal|prediction|environment)|account\/|skills\/|remoteControl\/|app\/|hook\/|turn\/diff|item\/(commandExecution|fileChange)\/|rawResponse|model\/|process\/|fs\/|codex\/event\/)/;

/** Of so much that is over the ids are remembered. */
const overMax = 10_000;

const notLoggedIn =
  'codex is not logged in: run `codex login` in a terminal, or give this agent the key of its provider in its `env`';

/** Reads the notifications of one process in order. */
export class CodexTranslator {
  /** The sub-agents, each in a thread of its own. */
  readonly threads = new CodexThreads();
  readonly #thought = new ThoughtPieces();
  /** Work that has begun and not ended, by id. */
  readonly #work = new Map<string, Item>();
  /** Work that has ended, or whose turn has: told again, it is not new. */
  readonly #over = new Set<string>();
  readonly #totals = new Map<string, CodexTokens>();
  readonly #unknown = new Set<string>();
  /** When its turn is over it begins the next one by itself. */
  hasGoal = false;
  /** It is being stopped: what ends now was ended. */
  isStopped = false;
  #root: string | undefined;
  #model: string | undefined;
  #message: string | undefined;
  #answer: { readonly text: string; readonly message: string } | undefined;
  #failure: CodexFailure | undefined;
  #limits = '';

  get work(): readonly Item[] {
    return [...this.#work.values()];
  }

  /** `thread` is ours: what is said of others is the business of the agents in them, unless ours has begun them. */
  opened(thread: string, model: string | undefined): void {
    this.#root = thread;
    this.#model = model;
  }

  read(method: string, params: Json): CodexMeaning[] {
    if (method === 'item/agentMessage/delta' && isPiece(params, this.#root)) {
      return this.#words(params.itemId, params.delta);
    }
    const parsed = CodexNotification.safeParse({ method, params });
    if (!parsed.success) return this.#strange(method);
    const { threadId } = parsed.data.params;
    if (this.#root === undefined || threadId == null || threadId === this.#root) return this.#read(parsed.data);
    return this.threads.has(threadId) ? this.#readOther(parsed.data, threadId) : [];
  }

  /** The turn is over: what was not told to have ended has. */
  close(): readonly Said[] {
    this.threads.clear();
    const open = [...this.#work.values()];
    this.#work.clear();
    for (const { id } of open) this.#isOver(id);
    return open.map(itemCancelled);
  }

  #strange(method: string): CodexMeaning[] {
    // An older program says some of it with every word.
    if (quiet.test(method) || this.#unknown.has(method)) return [];
    this.#unknown.add(method);
    return says(log('debug', `codex: ${method}`));
  }

  #read(notice: CodexNotification): CodexMeaning[] {
    switch (notice.method) {
      case 'turn/started':
        this.#answer = undefined;
        this.#message = undefined;
        this.#failure = undefined;
        return [{ kind: 'begun', turnId: notice.params.turn.id }];
      case 'turn/completed':
        return this.#completed(notice.params.turn);
      case 'turn/plan/updated':
        return says(planOf(notice.params));
      case 'item/started':
        return this.#itemStarted(notice.params.item, undefined);
      case 'item/completed':
        return this.#itemCompleted(notice.params.item, undefined);
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
      case 'item/commandExecution/outputDelta':
        return this.#output(notice.params);
      case 'item/mcpToolCall/progress':
        return says(toolProgress(notice.params.itemId, notice.params.message));
      case 'thread/tokenUsage/updated':
        return this.#used(notice.params, this.#root ?? '', this.#model);
      case 'thread/goal/updated':
        this.hasGoal = notice.params.goal.status === 'active';
        return [{ kind: 'background' }];
      case 'thread/goal/cleared':
        this.hasGoal = false;
        return [{ kind: 'background' }];
      case 'serverRequest/resolved':
        return [{ kind: 'resolved', requestId: notice.params.requestId }];
      case 'account/rateLimits/updated':
        return this.#limited(notice.params.rateLimits);
      case 'mcpServer/startupStatus/updated': {
        const { name, status, error } = notice.params;
        if (status !== 'failed') return [];
        return says(log('warn', `the server ${name} did not start: ${error ?? 'it does not say why'}`));
      }
      case 'error':
        if (notice.params.willRetry === true) return says(askedAgain({ why: notice.params.error.message }));
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

  /** What a sub-agent does belongs to the call that began it. */
  #readOther(notice: CodexNotification, threadId: string): CodexMeaning[] {
    const parent = this.threads.callOf(threadId);
    switch (notice.method) {
      case 'turn/started':
        return says(...this.threads.started(threadId, notice.params.turn.id));
      case 'turn/completed': {
        const output = this.threads.completed(threadId, notice.params.turn);
        if (parent !== undefined) this.#work.delete(parent);
        return [...says(...output), { kind: 'background' }];
      }
      case 'item/started':
        return this.#itemStarted(notice.params.item, parent);
      case 'item/completed':
        if (notice.params.item.type !== 'agentMessage') return this.#itemCompleted(notice.params.item, parent);
        return says(...this.threads.said(threadId, notice.params.item.text ?? ''));
      case 'item/commandExecution/outputDelta':
        return this.#output(notice.params);
      case 'thread/tokenUsage/updated':
        return this.#used({ ...notice.params, turnId: null }, threadId, this.threads.modelOf(threadId));
      case 'serverRequest/resolved':
        return [{ kind: 'resolved', requestId: notice.params.requestId }];
      case 'error':
        return says(log('warn', `${this.threads.nameOf(threadId)}: ${notice.params.error.message}`));
      default:
        return [];
    }
  }

  #itemStarted(item: Item, parent: string | undefined): CodexMeaning[] {
    if (!isWork(item)) return this.#restOfThought();
    const isKnown = this.#work.has(item.id);
    this.#work.set(item.id, item);
    this.#over.delete(item.id);
    if (isKnown) return this.#restOfThought();
    if (isDelegation(item)) this.threads.delegated(item);
    return [...this.#restOfThought(), ...says(itemStarted(item, parent)), { kind: 'began', item }];
  }

  #words(itemId: string, delta: string): CodexMeaning[] {
    const isNext = this.#message !== undefined && this.#message !== itemId;
    this.#message = itemId;
    if (delta === '') return [];
    // Two messages are two paragraphs to a program; to a session they are apart already.
    const gap = isNext ? [{ ...partial('\n\n', itemId), shown: [] }] : [];
    return [...this.#restOfThought(), ...says(...gap, partial(delta, itemId))];
  }

  #itemCompleted(item: Item, parent: string | undefined): CodexMeaning[] {
    if (item.type === 'agentMessage' || item.type === 'plan') return this.#messageCompleted(item);
    // A sub-agent's call ends with its thread.
    if (isDelegation(item) || !isWork(item)) return [];
    // One whose beginning was not told is seen, and held to the rules, all the same.
    const isTold = this.#work.has(item.id) || this.#over.has(item.id);
    const begun = isTold ? [] : this.#itemStarted(item, parent);
    if (!this.#work.delete(item.id)) return [];
    this.#isOver(item.id);
    // What it has written up to now comes before its result.
    return [...begun, { kind: 'done', item }, ...says(itemCompleted(item, this.isStopped))];
  }

  /** What comes after the end of a command stands in its result already. */
  #output({ itemId, delta }: { readonly itemId: string; readonly delta: string }): CodexMeaning[] {
    return this.#over.has(itemId) ? [] : [{ kind: 'output', callId: itemId, text: delta }];
  }

  #isOver(id: string): void {
    this.#over.add(id);
    const [oldest] = this.#over;
    if (this.#over.size > overMax && oldest !== undefined) this.#over.delete(oldest);
  }

  #messageCompleted(item: Item): CodexMeaning[] {
    const { id, text } = item;
    const asks: CodexMeaning[] = (item.questions ?? []).length > 0 ? [{ kind: 'asks', item }] : [];
    if (text == null || text === '') return asks;
    if (item.delivery !== 'async') this.#answer = { text, message: id };
    // What was not streamed is told whole.
    if (this.#message === id) return asks;
    if (item.delivery !== 'async') this.#message = id;
    return [...says(said({ type: 'message', id, text })), ...asks];
  }

  /** The program tells the sum of a thread, sometimes twice. */
  #used(
    told: Extract<CodexNotification, { method: 'thread/tokenUsage/updated' }>['params'],
    thread: string,
    model: string | undefined,
  ): CodexMeaning[] {
    const { total, last, modelContextWindow: size } = told.tokenUsage;
    const before = this.#totals.get(thread) ?? difference(total, last);
    this.#totals.set(thread, total);
    const { inputTokens, outputTokens, cachedInputTokens, cacheWriteInputTokens, reasoningOutputTokens } = difference(
      total,
      before,
    );
    if (inputTokens === 0 && outputTokens === 0) return [];
    const usage = {
      inputTokens,
      outputTokens,
      cacheReadTokens: cachedInputTokens ?? 0,
      cacheWriteTokens: cacheWriteInputTokens ?? 0,
    };
    const used = last.inputTokens + last.outputTokens;
    const source = {
      ...(model === undefined ? {} : { model }),
      ...(size == null || thread !== this.#root ? {} : { context: { used, size } }),
    };
    const thoughtTokens = reasoningOutputTokens ?? 0;
    return [{ kind: 'usage', usage, source, turnId: told.turnId ?? undefined, thoughtTokens }];
  }

  #limited(limits: JsonObject): CodexMeaning[] {
    const told = JSON.stringify(limits);
    const isTold = limits.primary != null || limits.secondary != null || limits.rateLimitReachedType != null;
    if (!isTold || told === this.#limits) return [];
    this.#limits = told;
    const { rateLimitReachedType: reached, primary } = limits;
    const resetsAt = memberOf(primary, 'resetsAt');
    const warning =
      typeof reached === 'string' ? [limited(reached, true, typeof resetsAt === 'number' ? resetsAt : undefined)] : [];
    return says(agentInfo({ extra: { rate_limits: limits } }), ...warning);
  }

  #completed(turn: CodexTurn): CodexMeaning[] {
    return [...this.#restOfThought(), { kind: 'ended', turnId: turn.id, end: this.#end(turn) }];
  }

  #end({ status, error, durationMs }: CodexTurn): CodexEnd {
    if (status === 'completed') {
      const { text = '', message } = this.#answer ?? {};
      return { kind: 'completed', text, message, ...(durationMs == null ? {} : { durationMs }) };
    }
    if (status === 'interrupted') return { kind: 'interrupted' };
    const failure = error ?? this.#failure;
    const details = failure?.additionalDetails == null ? '' : ` (${failure.additionalDetails})`;
    const message = `${failure?.message ?? 'the turn failed'}${details}`;
    if (isUnauthorized(failure?.codexErrorInfo)) {
      return { kind: 'failed', code: 'not_logged_in', message: `${notLoggedIn} (${message})` };
    }
    return { kind: 'failed', code: codeOf(failure?.codexErrorInfo), message };
  }

  #restOfThought(): CodexMeaning[] {
    const piece = this.#thought.take();
    return piece === undefined ? [] : says(thought(piece));
  }
}

function says(...outputs: readonly AgentOutput[]): CodexMeaning[] {
  return outputs.map((output) => ({ kind: 'say', output }));
}

function partial(text: string, message: string): Said {
  return said({ type: 'partial', text, message });
}

function difference(total: CodexTokens, before: CodexTokens): CodexTokens {
  const less = (a: number | null | undefined, b: number | null | undefined): number => Math.max(0, (a ?? 0) - (b ?? 0));
  return {
    inputTokens: less(total.inputTokens, before.inputTokens),
    outputTokens: less(total.outputTokens, before.outputTokens),
    cachedInputTokens: less(total.cachedInputTokens, before.cachedInputTokens),
    cacheWriteInputTokens: less(total.cacheWriteInputTokens, before.cacheWriteInputTokens),
    reasoningOutputTokens: less(total.reasoningOutputTokens, before.reasoningOutputTokens),
  };
}

function planOf({ plan: steps }: Extract<CodexNotification, { method: 'turn/plan/updated' }>['params']): Said {
  return plan(
    steps.map(({ step, status }) => ({
      content: step,
      status: status === 'completed' || status === 'pending' ? status : 'in_progress',
    })),
  );
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

function isUnauthorized(info: Json | null | undefined): boolean {
  if (codeOf(info) === 'unauthorized') return true;
  return memberOf(memberOf(info ?? undefined, codeOf(info)), 'httpStatusCode') === 401;
}

/** A piece of our own thread's text, by hand: nearly every line is one, and a schema costs more than its JSON does. */
function isPiece(
  params: Json,
  root: string | undefined,
): params is JsonObject & { readonly itemId: string; readonly delta: string } {
  if (typeof params !== 'object' || params === null || !('itemId' in params) || !('delta' in params)) return false;
  const isOurs = root === undefined || params.threadId === root;
  return isOurs && typeof params.itemId === 'string' && typeof params.delta === 'string';
}
