import type { AguiEvent, AguiMessage } from './agui-events.ts';

type Assistant = Extract<AguiMessage, { role: 'assistant' }>;

/**
 * The messages that a client has after it was told all this: its list and ours stay the same, so a snapshot changes
 * nothing for whoever was there from the beginning.
 */
export class AguiTranscript {
  readonly #messages: AguiMessage[] = [];
  readonly #byId = new Map<string, AguiMessage>();
  readonly #owners = new Map<string, Assistant>();

  /** As they are now: what follows does not change them. */
  get snapshot(): readonly AguiMessage[] {
    return this.#messages.map((message) =>
      message.role === 'assistant' && message.toolCalls !== undefined
        ? { ...message, toolCalls: message.toolCalls.map((call) => ({ ...call, function: { ...call.function } })) }
        : { ...message },
    );
  }

  apply(event: AguiEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
        if (this.#byId.has(event.messageId)) return;
        this.#push({ id: event.messageId, role: event.role, content: '' });
        return;
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT': {
        const message = this.#byId.get(event.messageId);
        if (message === undefined || message.role === 'activity') return;
        message.content = (typeof message.content === 'string' ? message.content : '') + event.delta;
        return;
      }
      case 'REASONING_MESSAGE_START':
        if (!this.#byId.has(event.messageId)) this.#push({ id: event.messageId, role: 'reasoning', content: '' });
        return;
      case 'TOOL_CALL_START':
        this.#call(event);
        return;
      case 'TOOL_CALL_ARGS': {
        const call = this.#callOf(event.toolCallId);
        if (call !== undefined) call.function.arguments += event.delta;
        return;
      }
      case 'TOOL_CALL_RESULT':
        this.#result(event);
        return;
      case 'ACTIVITY_SNAPSHOT':
        this.#push({
          id: event.messageId,
          role: 'activity',
          activityType: event.activityType,
          content: event.content,
        });
        return;
      default:
    }
  }

  /** What somebody said that is more than text. */
  addUser(id: string, content: unknown): void {
    if (!this.#byId.has(id)) this.#push({ id, role: 'user', content });
  }

  /** What was said under an id no longer counts. */
  replaceText(id: string, text: string): void {
    const message = this.#byId.get(id);
    if (message?.role === 'assistant') message.content = text;
    else this.#push({ id, role: 'assistant', content: text });
  }

  replaceArguments(toolCallId: string, text: string): void {
    const call = this.#callOf(toolCallId);
    if (call !== undefined) call.function.arguments = text;
  }

  #callOf(toolCallId: string): NonNullable<Assistant['toolCalls']>[number] | undefined {
    return this.#owners.get(toolCallId)?.toolCalls?.find(({ id }) => id === toolCallId);
  }

  #call(event: Extract<AguiEvent, { type: 'TOOL_CALL_START' }>): void {
    const { toolCallId, toolCallName, parentMessageId, subagentRunId, metadata } = event;
    if (this.#owners.has(toolCallId)) return;
    const parent = parentMessageId === undefined ? undefined : this.#byId.get(parentMessageId);
    const owner: Assistant =
      parent?.role === 'assistant'
        ? parent
        : this.#push({
            id: parent === undefined ? (parentMessageId ?? toolCallId) : toolCallId,
            role: 'assistant',
            toolCalls: [],
            ...(subagentRunId === undefined ? {} : { subagentRunId }),
          });
    owner.toolCalls ??= [];
    owner.toolCalls.push({
      id: toolCallId,
      type: 'function',
      function: { name: toolCallName, arguments: '' },
      ...(metadata === undefined ? {} : { metadata }),
    });
    this.#owners.set(toolCallId, owner);
  }

  /** After the message that called, and after the results that stand there. */
  #result(event: Extract<AguiEvent, { type: 'TOOL_CALL_RESULT' }>): void {
    const { messageId: id, toolCallId, content, subagentRunId, metadata } = event;
    const attribution = subagentRunId === undefined ? {} : { subagentRunId };
    const message: AguiMessage = { id, toolCallId, role: 'tool', content, ...attribution, metadata };
    const owner = this.#owners.get(toolCallId);
    if (owner === undefined) {
      this.#push(message);
      return;
    }
    let at = this.#messages.lastIndexOf(owner) + 1;
    while (this.#messages[at]?.role === 'tool') at++;
    this.#messages.splice(at, 0, message);
    this.#byId.set(id, message);
  }

  #push<Some extends AguiMessage>(message: Some): Some {
    this.#messages.push(message);
    this.#byId.set(message.id, message);
    return message;
  }
}

/** As one client has them, which drops what a snapshot leaves out: with what is its own, and what it has just said. */
export function withCarried(
  said: readonly AguiMessage[],
  { carried }: { readonly carried: readonly AguiMessage[] },
): readonly AguiMessage[] {
  const known = new Set(said.map(({ id }) => id));
  const isOwn = ({ role }: AguiMessage): boolean => role === 'system' || role === 'developer';
  const unheard = carried.filter((message) => !isOwn(message) && !known.has(message.id));
  return [...carried.filter(isOwn), ...said, ...unheard];
}
