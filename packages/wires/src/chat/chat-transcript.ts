import type { FoldedEvent } from '@concerto/protocol';
import { type ChatChunk, isTransient } from './chat-chunks.ts';
import { ChatFold } from './chat-fold.ts';

type ChatPart = { type: string; [key: string]: unknown };
export type ChatMessage = { id: string; role: 'user' | 'assistant'; parts: ChatPart[]; metadata?: object };

/** The messages that a page begins with: those that it would have, had it been there from the beginning. */
export class ChatTranscript {
  readonly fold: ChatFold;
  readonly messages: ChatMessage[] = [];
  #open = new Map<string, ChatPart>();

  constructor(session: string) {
    this.fold = new ChatFold(session);
  }

  take(event: FoldedEvent): void {
    for (const chunk of this.fold.take(event)) if (!isTransient(chunk)) this.#apply(chunk);
  }

  #apply(chunk: ChatChunk): void {
    if (chunk.type === 'start') {
      this.messages.push({ id: chunk.messageId, role: 'assistant', parts: [], metadata: chunk.messageMetadata });
      this.#open = new Map();
      return;
    }
    const message = this.messages.at(-1);
    if (message === undefined) return;
    switch (chunk.type) {
      case 'data-user':
        return this.#user(message, chunk);
      case 'finish':
        message.metadata = { ...message.metadata, ...chunk.messageMetadata };
        return;
      case 'start-step':
        message.parts.push({ type: 'step-start' });
        return;
      case 'text-start':
      case 'reasoning-start': {
        const part = { type: chunk.type.replace('-start', ''), text: '', state: 'streaming' };
        this.#open.set(chunk.id, chunk.type === 'text-start' ? part : { ...part, id: chunk.id });
        message.parts.push(this.#open.get(chunk.id) ?? part);
        return;
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const part = this.#open.get(chunk.id);
        if (part !== undefined) part.text = `${String(part.text)}${chunk.delta}`;
        return;
      }
      case 'text-end':
      case 'reasoning-end':
        Object.assign(this.#open.get(chunk.id) ?? {}, { state: 'done' });
        return;
      default:
        applyPart(message, chunk);
    }
  }

  /** What begins a turn is a message of its own; what was said into it stands in it. */
  #user(message: ChatMessage, { id, data }: Extract<ChatChunk, { type: `data-${string}` }>): void {
    const said = { text: '', isSteer: false, files: [], ...(typeof data === 'object' ? data : {}) };
    const { text, isSteer } = said;
    if (isSteer) {
      message.parts.push({ type: 'data-user', id, data });
      return;
    }
    const files = said.files.map((file: object) => ({ type: 'file', ...file }));
    this.messages.splice(-1, 0, { id: id ?? '', role: 'user', parts: [...files, { type: 'text', text }] });
  }
}

/** Parts that come whole, and what becomes of tools. */
function applyPart({ parts }: ChatMessage, chunk: ChatChunk): void {
  if (chunk.type === 'file') parts.push({ ...chunk });
  else if (chunk.type.startsWith('data-')) {
    const id = 'id' in chunk ? chunk.id : undefined;
    const known = id === undefined ? undefined : parts.find((part) => part.type === chunk.type && part.id === id);
    if (known === undefined) parts.push({ ...chunk });
    else Object.assign(known, chunk);
  } else if ('toolCallId' in chunk) applyTool(parts, chunk);
}

function applyTool(parts: ChatPart[], chunk: Extract<ChatChunk, { toolCallId: string }>): void {
  const { toolCallId } = chunk;
  let part = parts.findLast((each) => each.toolCallId === toolCallId);
  if (part === undefined) {
    part = { type: 'dynamic-tool', toolCallId };
    parts.push(part);
  }
  switch (chunk.type) {
    case 'tool-input-start':
    case 'tool-input-available': {
      const { type, dynamic: _dynamic, ...tool } = chunk;
      Object.assign(part, tool, { state: type === 'tool-input-start' ? 'input-streaming' : 'input-available' });
      return;
    }
    case 'tool-approval-request':
      Object.assign(part, { state: 'approval-requested', approval: { id: chunk.approvalId } });
      return;
    case 'tool-output-denied':
      part.state = 'output-denied';
      return;
    case 'tool-output-error':
    case 'tool-output-available': {
      const { type, dynamic: _dynamic, ...output } = chunk;
      Object.assign(part, output, { state: type.replace('tool-', '') });
      return;
    }
    default:
  }
}
