import type { JsonObject } from '@concerto/base';
import type { FoldedEvent, LlmContent, Part } from '@concerto/protocol';
import * as z from 'zod';
import type { EventOf } from '../told.ts';

/** What an assistant notes where the beginning of its conversation became a summary, and of signals that were none. */
const Compacted = z.object({ compacted: z.object({ summary: z.string(), kept: z.int().nonnegative() }) });
const Slip = z.object({ slip: z.string(), message: z.string() });

/** One question to a model: all that was said until then. */
export type ModelRequest = { readonly model: string; readonly body: { readonly contents: readonly LlmContent[] } };

/**
 * What the model of an assistant was asked, put together from the events of its session: they hold every word of it, so that
 * no request is kept beside them.
 */
export class ModelRequests {
  #contents: LlmContent[] = [];
  #model = '';
  /** The model's message that is under way. */
  #message: string | undefined;

  /** One that goes its own way from here. */
  copy(): ModelRequests {
    const copy = new ModelRequests();
    copy.#contents = [...this.#contents];
    copy.#model = this.#model;
    copy.#message = this.#message;
    return copy;
  }

  /** The request that led to the event, where it is the first of an answer. */
  take(event: FoldedEvent): ModelRequest | undefined {
    switch (event.type) {
      case 'start':
        this.#say('user', event.objective.parts);
        return undefined;
      case 'agentInfo':
      case 'usage':
        this.#model = event.model ?? this.#model;
        return undefined;
      case 'thought':
        return this.#begins(event.messageId);
      case 'content':
        return this.#content(event);
      case 'functionCall': {
        if (event.isTurn === true) return undefined;
        const asked = this.#begins(event.messageId);
        const { name, args, callId: id } = event;
        this.#add({ functionCall: { id, name, args } });
        return asked;
      }
      case 'functionResult':
        if (this.#message !== undefined || this.#contents.at(-1)?.role === 'user') this.#result(event);
        return undefined;
      case 'subagentAddJson':
        this.#noted(event.data);
        return undefined;
      case 'turnComplete':
        this.#message = undefined;
        return undefined;
      default:
        return undefined;
    }
  }

  #content({ content, messageId, whole }: EventOf<'content'>): ModelRequest | undefined {
    if (content.role === 'user') {
      this.#message = undefined;
      this.#say('user', content.parts);
      return undefined;
    }
    // What the turn hands over at its end, and the model has said before.
    if (messageId === undefined) return undefined;
    const asked = this.#begins(messageId);
    const last = this.#contents.at(-1);
    if (last === undefined) return asked;
    const parts = whole === true ? last.parts.filter((part) => !('text' in part)) : last.parts;
    this.#contents[this.#contents.length - 1] = { role: 'model', parts: joined([...parts, ...content.parts]) };
    return asked;
  }

  /** Undefined in the middle of an answer. */
  #begins(messageId: string | undefined): ModelRequest | undefined {
    if (messageId === undefined || messageId === this.#message) return undefined;
    const contents = this.#contents.filter(({ parts }) => parts.length > 0);
    this.#message = messageId;
    this.#say('model', []);
    return { model: this.#model, body: { contents } };
  }

  #result({ content }: EventOf<'functionResult'>): void {
    const last = this.#contents.at(-1);
    if (last?.role !== 'user') this.#say('user', []);
    for (const part of content.parts) this.#add(part);
  }

  #noted(data: unknown): void {
    const slip = Slip.safeParse(data);
    if (slip.success) this.#say('user', [{ text: slip.data.message }]);
    const note = Compacted.safeParse(data);
    if (!note.success) return;
    const { summary, kept } = note.data.compacted;
    const all = this.#contents.filter(({ parts }) => parts.length > 0);
    this.#contents = [{ role: 'user', parts: [{ text: summary }] }, ...all.slice(all.length - kept)];
  }

  #say(role: 'user' | 'model', parts: readonly Part[]): void {
    this.#contents.push({ role, parts: [...parts] });
  }

  #add(part: Part): void {
    const last = this.#contents.at(-1);
    if (last !== undefined) this.#contents[this.#contents.length - 1] = { ...last, parts: [...last.parts, part] };
  }
}

/** Pieces of a text as one. */
function joined(parts: readonly Part[]): Part[] {
  const all: Part[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (isText(part) && last !== undefined && isText(last)) all[all.length - 1] = { text: last.text + part.text };
    else all.push(part);
  }
  return all;
}

function isText(part: Part): part is Part & { readonly text: string } & JsonObject {
  return 'text' in part && typeof part.text === 'string';
}
