import { unreachable } from '@concerto/base';
import { type FoldedEvent, type Part, type SuspendEvent, textOf } from '@concerto/protocol';
import { fileIn } from '../files.ts';
import { Narration } from '../narration.ts';
import { answerSchemaOf, questionOf } from '../requests.ts';
import { frameOf, type Said } from '../said.ts';
import { type Call, resultText, resultValue, type Told } from '../told.ts';
import type { ChatChunk } from './chat-chunks.ts';

/** The answer to a message of the user is one message of the assistant, by this id. */
export function answerId(messageId: string): string {
  return `answer-${messageId}`;
}

/** Whoever said it is not told, nor is what becomes of a call to whoever was not told of it; a message ends. */
export type ChatAbout =
  | { readonly user: string }
  | { readonly call: string; readonly begins: boolean }
  | { readonly ends: true };

/**
 * A session as the UI message stream of the AI SDK: a turn is one message of the assistant. It knows of nobody who
 * listens: what it says is the same for all of them.
 */
export class ChatFold {
  readonly narration = new Narration();
  readonly #session: string;
  /** The message that is being said. */
  #answer: string | undefined;
  /** The model's message that the current step is. */
  #step: string | undefined;
  #steps = 0;
  /** In which step a call stands: a part is found there alone. */
  readonly #stepOf = new Map<string, number>();

  constructor(session: string) {
    this.#session = session;
  }

  take(event: FoldedEvent): readonly ChatChunk[] {
    return this.narration.take(event).flatMap((told) => this.#say(told));
  }

  /** The same as it is sent. */
  tell(event: FoldedEvent): readonly Said<ChatAbout>[] {
    return this.take(event).map((chunk) => {
      const about = aboutOf(chunk);
      return { text: frameOf(chunk), ...(about === undefined ? {} : { about }) };
    });
  }

  /** The message goes on, for a client that was told `paused` before. */
  goOn(): readonly ChatChunk[] {
    const { open } = this.narration;
    return open === undefined ? [] : [{ type: open.kind === 'text' ? 'text-start' : 'reasoning-start', id: open.id }];
  }

  /** The message is not over, but nothing more will be said before somebody has answered. */
  paused(): readonly ChatChunk[] {
    const { open } = this.narration;
    const closed: readonly ChatChunk[] =
      open === undefined ? [] : [{ type: open.kind === 'text' ? 'text-end' : 'reasoning-end', id: open.id }];
    const finishReason = this.narration.waiting.length > 0 ? 'tool-calls' : 'stop';
    return [...closed, { type: 'finish', finishReason, messageMetadata: this.#metadata() }];
  }

  #metadata(): object {
    return { session: this.#session, position: this.narration.position };
  }

  #begin(id: string): readonly ChatChunk[] {
    this.#answer = id;
    this.#step = undefined;
    return [{ type: 'start', messageId: id, messageMetadata: this.#metadata() }];
  }

  /** Something that is part of a message: the message and its step begin with it, if they have not. */
  #in(step: string | undefined, ...chunks: readonly ChatChunk[]): readonly ChatChunk[] {
    const said: ChatChunk[] = [];
    if (this.#answer === undefined) said.push(...this.#begin(answerId(String(this.narration.position))));
    // A step that nothing of a message stands in yet becomes the step of the first that does.
    const isOther = step !== undefined && this.#step !== '' && step !== this.#step;
    if (this.#step === undefined || isOther) {
      if (this.#step !== undefined) said.push({ type: 'finish-step' });
      said.push({ type: 'start-step' });
      this.#steps++;
    }
    this.#step = step ?? this.#step ?? '';
    return [...said, ...chunks];
  }

  #say(told: Told): readonly ChatChunk[] {
    switch (told.tell) {
      case 'turn-began':
        this.#answer = undefined;
        return [];
      case 'user':
        return this.#user(told);
      case 'text-began':
        return this.#in(told.id, { type: 'text-start', id: told.id });
      case 'thought-began':
        return this.#in(told.id.replace(/^thought-/, ''), { type: 'reasoning-start', id: told.id });
      case 'text':
      case 'thought':
        return [{ type: told.tell === 'text' ? 'text-delta' : 'reasoning-delta', id: told.id, delta: told.delta }];
      case 'text-ended':
        return [{ type: 'text-end', id: told.id }];
      case 'thought-ended':
        return [{ type: 'reasoning-end', id: told.id }];
      case 'text-replaced':
        return this.#in(told.id, { type: 'data-text-replaced', data: { id: told.id, text: told.text } });
      case 'parts':
        return this.#in(told.id, ...told.parts.map(partChunk));
      case 'call-began':
      case 'call-args':
      case 'call-retold':
      case 'call-result':
        return this.#call(told);
      case 'asked':
        return this.#ask(told.event);
      case 'settled':
        return this.#settle(told);
      case 'turn-ended':
        return this.#end(told);
      default:
        return this.#aside(told);
    }
  }

  #user({ id, content, isSteer }: Extract<Told, { tell: 'user' }>): readonly ChatChunk[] {
    const begun = isSteer ? [] : this.#begin(answerId(id));
    const files = content.parts
      .flatMap((part) => fileIn(part) ?? [])
      .map(({ mimeType, url }) => ({ mediaType: mimeType, url }));
    const data = { text: textOf(content), ...(files.length === 0 ? {} : { files }), ...(isSteer ? { isSteer } : {}) };
    const chunk = { type: 'data-user', id, data } as const;
    return isSteer ? this.#in(undefined, chunk) : [...begun, chunk];
  }

  #call(
    told: Extract<Told, { tell: 'call-began' | 'call-args' | 'call-retold' | 'call-result' }>,
  ): readonly ChatChunk[] {
    const { call } = told;
    const { callId: toolCallId, args: input } = call;
    switch (told.tell) {
      case 'call-began': {
        const chunks = this.#in(call.messageId, { type: 'tool-input-start', ...toolOf(call) });
        this.#stepOf.set(toolCallId, this.#steps);
        return chunks;
      }
      case 'call-args':
      case 'call-retold':
        if (this.#stepOf.get(toolCallId) !== this.#steps) return [];
        return [{ type: 'tool-input-available', ...toolOf(call), input }];
      case 'call-result':
        return [resultChunk(told)];
      default:
        return unreachable(told);
    }
  }

  /** About a call, that call waits; anything else is a tool of its own, which the page answers. */
  #ask(event: SuspendEvent): readonly ChatChunk[] {
    const { requestId, callId, type } = event;
    const call = callId === undefined ? undefined : this.narration.calls.get(callId)?.call;
    if (type === 'queryConsent' && call !== undefined) {
      return [{ type: 'tool-approval-request', approvalId: requestId, toolCallId: call.callId }];
    }
    const isConsent = type === 'queryConsent';
    const tool = { toolCallId: requestId, toolName: isConsent ? 'approve' : 'ask', dynamic: true } as const;
    const asked = this.#in(
      undefined,
      { type: 'tool-input-start', ...tool, title: questionOf(event), toolMetadata: { schema: answerSchemaOf(event) } },
      { type: 'tool-input-available', ...tool, input: { question: questionOf(event), request: event } },
    );
    this.#stepOf.set(requestId, this.#steps);
    return isConsent
      ? [...asked, { type: 'tool-approval-request', approvalId: requestId, toolCallId: requestId }]
      : asked;
  }

  #settle({ request, settlement }: Extract<Told, { tell: 'settled' }>): readonly ChatChunk[] {
    const { requestId, callId, type } = request;
    const { outcome, response, by, reason } = settlement;
    const call = callId === undefined ? undefined : this.narration.calls.get(callId)?.call;
    if (type === 'queryConsent' && call !== undefined) {
      // Whoever sees the card but did not answer it: the call goes on. A refused one says so itself.
      if (response === false || this.#stepOf.get(call.callId) !== this.#steps) return [];
      return [{ type: 'tool-input-available', ...toolOf(call), input: call.args }];
    }
    if (!this.#stepOf.has(requestId)) return [];
    if (outcome === 'withdrawn') {
      const errorText = reason ?? 'withdrawn';
      return [{ type: 'tool-output-error', toolCallId: requestId, errorText, dynamic: true }];
    }
    if (type === 'queryConsent' && response === false) return [{ type: 'tool-output-denied', toolCallId: requestId }];
    const output = { response: response ?? null, ...(by === undefined ? {} : { by }) };
    return [{ type: 'tool-output-available', toolCallId: requestId, output, dynamic: true }];
  }

  #end({ outcome, reason }: Extract<Told, { tell: 'turn-ended' }>): readonly ChatChunk[] {
    const closed: readonly ChatChunk[] = this.#step === undefined ? [] : [{ type: 'finish-step' }];
    const begun = this.#answer === undefined ? this.#begin(answerId(String(this.narration.position))) : [];
    this.#answer = undefined;
    this.#step = undefined;
    const finish = (finishReason: 'stop' | 'error' | 'other'): ChatChunk => ({
      type: 'finish',
      finishReason,
      messageMetadata: this.#metadata(),
    });
    switch (outcome) {
      case 'done':
        return [...begun, ...closed, finish('stop')];
      case 'interrupted':
      case 'cancelled':
        return [...begun, ...closed, { type: 'abort', reason: reason ?? outcome }, finish('other')];
      case 'failed':
      case 'lost':
        return [...begun, ...closed, { type: 'error', errorText: reason ?? `the turn is ${outcome}` }, finish('error')];
      default:
        return unreachable(outcome);
    }
  }

  #aside(
    told: Extract<Told, { tell: 'call-status' | 'call-output' | 'routed' | 'standing' | 'note' | 'raw' | 'over' }>,
  ): readonly ChatChunk[] {
    switch (told.tell) {
      case 'standing': {
        const value = this.narration.standing[told.key];
        if (told.key === 'plan' && this.#answer !== undefined) {
          return this.#in(undefined, { type: 'data-plan', id: 'plan', data: value });
        }
        const { usage } = this.narration.standing;
        const data = told.key === 'usage' ? usage.total : value;
        return [{ type: `data-${told.key}`, data: data ?? null, transient: true }];
      }
      case 'call-status':
        return [{ type: 'data-tool-status', data: { toolCallId: told.callId, status: told.status }, transient: true }];
      case 'call-output':
        return [{ type: 'data-tool-output', data: { toolCallId: told.callId, text: told.text }, transient: true }];
      case 'routed':
        return [{ type: 'data-routed', data: { requestId: told.requestId, to: told.to }, transient: true }];
      case 'note': {
        const { title, data, callId } = told;
        return [{ type: 'data-note', data: { title, data, toolCallId: callId }, transient: true }];
      }
      case 'raw':
        return [{ type: 'data-raw', data: told.event, transient: true }];
      case 'over':
        return [{ type: 'data-over', data: told.end ?? null, transient: true }];
      default:
        return unreachable(told);
    }
  }
}

export function aboutOf(chunk: ChatChunk): ChatAbout | undefined {
  if (chunk.type === 'finish') return { ends: true };
  if (chunk.type === 'data-user' && 'id' in chunk && chunk.id !== undefined) return { user: chunk.id };
  if (!('toolCallId' in chunk)) return undefined;
  return { call: chunk.toolCallId, begins: chunk.type === 'tool-input-start' };
}

function toolOf({ callId, name, title, kind, childSession, parentCallId, locations, changes }: Call) {
  const details = {
    ...(kind === undefined ? {} : { kind }),
    ...(childSession === undefined ? {} : { childSession }),
    ...(parentCallId === undefined ? {} : { parentCallId }),
    ...(locations.length === 0 ? {} : { locations }),
    ...(changes.length === 0 ? {} : { changes }),
  };
  return {
    toolCallId: callId,
    toolName: name,
    dynamic: true,
    providerExecuted: true,
    ...(title === undefined ? {} : { title }),
    ...(Object.keys(details).length === 0 ? {} : { toolMetadata: details }),
  } as const;
}

function resultChunk({ call, content, outcome }: Extract<Told, { tell: 'call-result' }>): ChatChunk {
  const { callId: toolCallId, dynamic, providerExecuted, toolMetadata } = { ...call, ...toolOf(call) };
  switch (outcome) {
    case 'denied':
      return { type: 'tool-output-denied', toolCallId };
    case 'failed':
    case 'cancelled': {
      const errorText = resultText(content) || outcome;
      return { type: 'tool-output-error', toolCallId, errorText, dynamic, providerExecuted };
    }
    case 'ok': {
      const output = resultValue(content);
      const details = toolMetadata === undefined ? {} : { toolMetadata };
      return { type: 'tool-output-available', toolCallId, output, dynamic, providerExecuted, ...details };
    }
    default:
      return unreachable(outcome);
  }
}

function partChunk(part: Part): ChatChunk {
  const file = fileIn(part);
  if (file === undefined) return { type: 'data-part', data: part };
  return { type: 'file', mediaType: file.mimeType, url: file.url };
}
