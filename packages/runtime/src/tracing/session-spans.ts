import type { SessionKind, Usage } from '@concerto/protocol';
import * as z from 'zod';
import type { Span } from './span.ts';
import { readTraceparent, spanIdOf, type TraceContext, traceIdOf } from './trace-context.ts';

/** Of what is appended to a session only what spans are made of; no text of anybody is in it. */
export const TracedRecord = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('created'),
    at: z.number(),
    kind: z.enum(['agent', 'program', 'assistant']),
    agent: z.string(),
    parent: z.string().optional(),
  }),
  z.object({
    type: z.literal('message-enqueued'),
    at: z.number(),
    messageId: z.string(),
    source: z.string(),
    trace: z.string().optional(),
  }),
  z.object({ type: z.literal('message-delivered'), at: z.number(), messageId: z.string(), how: z.string() }),
  z.object({ type: z.literal('message-cancelled'), at: z.number(), messageId: z.string() }),
  z.object({ type: z.literal('turn-started'), at: z.number(), turn: z.number(), messageId: z.string().optional() }),
  z.object({
    type: z.literal('turn-ended'),
    at: z.number(),
    outcome: z.string(),
    error: z.object({ code: z.string() }).optional(),
  }),
  z.object({
    type: z.literal('request-opened'),
    at: z.number(),
    requestId: z.string(),
    event: z.object({ type: z.string() }),
  }),
  z.object({
    type: z.literal('request-answered'),
    at: z.number(),
    requestId: z.string(),
    actor: z.string(),
    by: z.string().optional(),
  }),
  z.object({ type: z.literal('request-withdrawn'), at: z.number(), requestId: z.string() }),
  z.object({
    type: z.literal('usage-reported'),
    at: z.number(),
    usage: z.object({
      inputTokens: z.number(),
      outputTokens: z.number(),
      cacheReadTokens: z.number().optional(),
      cacheWriteTokens: z.number().optional(),
    }),
    source: z.object({ callId: z.string().optional(), model: z.string().optional() }).optional(),
  }),
]);
export type TracedRecord = z.infer<typeof TracedRecord>;

const instant = z.string().transform((text) => Date.parse(text));
export const TracedEvent = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('functionCall'),
    at: instant,
    callId: z.string(),
    name: z.string(),
    isTurn: z.boolean().optional(),
    parentCallId: z.string().optional(),
    childSession: z.string().optional(),
  }),
  z.object({ type: z.literal('functionResult'), at: instant, callId: z.string(), outcome: z.string().optional() }),
]);
export type TracedEvent = z.infer<typeof TracedEvent>;

/** Types of entries that say something here; the others are not even parsed. */
export const tracedTypes: ReadonlySet<string> = new Set(
  [...TracedRecord.options, ...TracedEvent.options].map((option) => option.shape.type.value),
);

/** More than that of one turn are not remembered: their spans are left out. */
const openMax = 1_000;

type Open = { readonly context: TraceContext; readonly parentSpanId: string; readonly start: number };
type Waiting = { readonly above: TraceContext; readonly start: number; readonly source: string };
type Tool = Open & { readonly name: string; readonly child: string | undefined };
type Asked = Open & { readonly what: string };
type Turn = Open & {
  readonly tools: Map<string, Tool>;
  readonly asked: Map<string, Asked>;
  readonly message: string | undefined;
  readonly used: Usage;
  model: string | undefined;
  /** When the model was last asked. */
  askedModelAt: number;
};

const operations: Readonly<Record<SessionKind, { readonly name: string; readonly kind: Span['kind'] }>> = {
  agent: { name: 'invoke_agent', kind: 'client' },
  assistant: { name: 'invoke_agent', kind: 'internal' },
  program: { name: 'invoke_workflow', kind: 'internal' },
};

/**
 * One session's spans, from what is appended to it: how long a message waited, the turn that came of it, its tools, its
 * steps and its questions. A fold of the log, so that whoever takes the session over tells the same.
 */
export class SessionSpans {
  readonly #session: string;
  #agent: { readonly kind: SessionKind; readonly name: string; readonly parent: string | undefined } | undefined;
  readonly #waiting = new Map<string, Waiting>();
  #turn: Turn | undefined;

  constructor(session: string) {
    this.#session = session;
  }

  /** The session that opened it: a message without a trace of its own belongs to that one's. */
  get parent(): string | undefined {
    return this.#agent?.parent;
  }

  /** Of the turn that is under way. */
  get context(): TraceContext | undefined {
    return this.#turn?.context;
  }

  /** What is over with this entry. `above` is where a message hangs that says nothing about it. */
  take(entry: TracedRecord | TracedEvent, above: TraceContext | undefined): readonly Span[] {
    switch (entry.type) {
      case 'created':
        this.#agent = { kind: entry.kind, name: entry.agent, parent: entry.parent };
        return [];
      case 'message-enqueued':
        this.#enqueue(entry, above);
        return [];
      case 'message-delivered':
        return this.#leave(entry.messageId, entry.at, entry.how);
      case 'message-cancelled':
        return this.#leave(entry.messageId, entry.at, 'cancelled');
      case 'turn-started':
        return this.#begin(entry);
      case 'turn-ended':
        return this.#end(entry);
      case 'usage-reported':
        return this.#use(entry);
      case 'functionCall':
        this.#call(entry);
        return [];
      case 'functionResult':
        return this.#result(entry);
      case 'request-opened':
        this.#ask(entry);
        return [];
      case 'request-answered':
        return this.#settle(entry.requestId, entry.at, entry.by ?? entry.actor);
      case 'request-withdrawn':
        return this.#settle(entry.requestId, entry.at, 'withdrawn');
    }
  }

  #enqueue({ messageId, at, trace, source }: Of<'message-enqueued'>, above: TraceContext | undefined): void {
    const begun = readTraceparent(trace) ?? above ?? this.#root('message', messageId);
    if (this.#waiting.size < openMax) this.#waiting.set(messageId, { above: begun, start: at, source });
  }

  #leave(messageId: string, at: number, how: string): readonly Span[] {
    const waiting = this.#waiting.get(messageId);
    // What begins a turn is needed until it has.
    if (waiting === undefined) return [];
    this.#waiting.delete(messageId);
    return this.#span(
      {
        context: { ...waiting.above, spanId: spanIdOf(this.#session, 'queue', messageId) },
        parentSpanId: waiting.above.spanId,
        start: waiting.start,
      },
      {
        name: 'queue message',
        end: at,
        attributes: {
          'concerto.message.id': messageId,
          'concerto.message.source': waiting.source,
          'concerto.delivery': how,
        },
      },
    );
  }

  /** A turn whose prompt nobody read is begun again under its number. */
  #begin({ turn, messageId, at }: Of<'turn-started'>): readonly Span[] {
    const lost = this.#turn === undefined ? [] : this.#end({ type: 'turn-ended', at, outcome: 'lost' });
    const above =
      (messageId === undefined ? undefined : this.#waiting.get(messageId)?.above) ?? this.#root('turn', String(turn));
    this.#turn = {
      context: { ...above, spanId: spanIdOf(this.#session, 'turn', String(turn), String(at)) },
      parentSpanId: above.spanId,
      start: at,
      tools: new Map(),
      asked: new Map(),
      message: messageId,
      used: { inputTokens: 0, outputTokens: 0 },
      model: undefined,
      askedModelAt: at,
    };
    return lost;
  }

  #end({ at, outcome, error }: Of<'turn-ended'>): readonly Span[] {
    const turn = this.#turn;
    if (turn === undefined) return [];
    this.#turn = undefined;
    const cut = [
      ...[...turn.tools.keys()].flatMap((callId) => this.#close(turn, callId, at, 'cancelled')),
      ...[...turn.asked.keys()].flatMap((id) => this.#settled(turn, id, at, 'withdrawn')),
    ];
    const { kind = 'agent', name = 'agent' } = this.#agent ?? {};
    const operation = operations[kind];
    const failed = outcome === 'result' ? undefined : (error?.code ?? outcome);
    const whole = this.#span(turn, {
      name: `${operation.name} ${name}`,
      kind: operation.kind,
      end: at,
      attributes: {
        'gen_ai.operation.name': operation.name,
        ...(kind === 'program' ? { 'gen_ai.workflow.name': name } : { 'gen_ai.agent.name': name }),
        'gen_ai.request.model': turn.model,
        ...usageAttributes(turn.used),
        'concerto.turn.outcome': outcome,
        'concerto.message.id': turn.message,
      },
      errorType: failed,
    });
    return [...cut, ...whole];
  }

  #use({ usage, source, at }: Of<'usage-reported'>): readonly Span[] {
    const turn = this.#turn;
    if (turn === undefined) return [];
    const sum = (a: number | undefined, b: number | undefined): number => (a ?? 0) + (b ?? 0);
    turn.used.inputTokens += usage.inputTokens;
    turn.used.outputTokens += usage.outputTokens;
    if (usage.cacheReadTokens !== undefined)
      turn.used.cacheReadTokens = sum(turn.used.cacheReadTokens, usage.cacheReadTokens);
    if (usage.cacheWriteTokens !== undefined)
      turn.used.cacheWriteTokens = sum(turn.used.cacheWriteTokens, usage.cacheWriteTokens);
    turn.model = source?.model ?? turn.model;
    // An agent says what it used, when it likes; our own loop says it of each step, at its end.
    if (this.#agent?.kind !== 'assistant') return [];
    const start = turn.askedModelAt;
    turn.askedModelAt = at;
    const model = source?.model ?? 'model';
    return this.#span(
      {
        ...turn,
        context: { ...turn.context, spanId: spanIdOf(turn.context.spanId, 'chat', String(at), String(start)) },
        parentSpanId: turn.context.spanId,
        start,
      },
      {
        name: `chat ${model}`,
        kind: 'client',
        end: at,
        attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model, ...usageAttributes(usage) },
      },
    );
  }

  #call({ callId, name, isTurn, parentCallId, childSession, at }: Of<'functionCall'>): void {
    const turn = this.#turn;
    if (turn === undefined || isTurn === true || turn.tools.size >= openMax) return;
    const above = parentCallId === undefined ? undefined : turn.tools.get(parentCallId)?.context.spanId;
    turn.tools.set(callId, {
      context: { ...turn.context, spanId: spanIdOf(turn.context.spanId, 'tool', callId) },
      parentSpanId: above ?? turn.context.spanId,
      start: at,
      name,
      child: childSession,
    });
  }

  #result({ callId, outcome, at }: Of<'functionResult'>): readonly Span[] {
    const turn = this.#turn;
    if (turn === undefined) return [];
    turn.askedModelAt = at;
    return this.#close(turn, callId, at, outcome ?? 'ok');
  }

  #close(turn: Turn, callId: string, at: number, outcome: string): readonly Span[] {
    const tool = turn.tools.get(callId);
    if (tool === undefined) return [];
    turn.tools.delete(callId);
    return this.#span(tool, {
      name: `execute_tool ${tool.name}`,
      end: at,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool.name,
        'gen_ai.tool.call.id': callId,
        'concerto.child.session': tool.child,
      },
      errorType: outcome === 'ok' ? undefined : outcome,
    });
  }

  #ask({ requestId, event, at }: Of<'request-opened'>): void {
    const turn = this.#turn;
    if (turn === undefined || turn.asked.size >= openMax) return;
    turn.asked.set(requestId, {
      context: { ...turn.context, spanId: spanIdOf(turn.context.spanId, 'request', requestId) },
      parentSpanId: turn.context.spanId,
      start: at,
      what: event.type,
    });
  }

  #settle(requestId: string, at: number, by: string): readonly Span[] {
    const turn = this.#turn;
    return turn === undefined ? [] : this.#settled(turn, requestId, at, by);
  }

  #settled(turn: Turn, requestId: string, at: number, by: string): readonly Span[] {
    const asked = turn.asked.get(requestId);
    if (asked === undefined) return [];
    turn.asked.delete(requestId);
    return this.#span(asked, {
      name: `wait for answer ${asked.what}`,
      end: at,
      attributes: { 'concerto.request.id': requestId, 'concerto.answered_by': by },
    });
  }

  #root(...names: readonly string[]): TraceContext {
    const traceId = traceIdOf(this.#session, ...names);
    return { traceId, spanId: '', sampled: true };
  }

  #span(open: Open, closed: Closed): readonly Span[] {
    if (!open.context.sampled) return [];
    const { traceId, spanId } = open.context;
    return [
      {
        kind: 'internal',
        ...closed,
        traceId,
        spanId,
        ...(open.parentSpanId === '' ? {} : { parentSpanId: open.parentSpanId }),
        start: open.start,
        attributes: {
          ...closed.attributes,
          'gen_ai.conversation.id': this.#session,
          'gen_ai.provider.name': 'concerto',
        },
      },
    ];
  }
}

type Closed = Pick<Span, 'name' | 'end' | 'attributes' | 'errorType'> & { readonly kind?: Span['kind'] };
type Of<Type extends (TracedRecord | TracedEvent)['type']> = Extract<TracedRecord | TracedEvent, { type: Type }>;

function usageAttributes(usage: Usage): Record<string, number | undefined> {
  return {
    'gen_ai.usage.input_tokens': usage.inputTokens,
    'gen_ai.usage.output_tokens': usage.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
  };
}
