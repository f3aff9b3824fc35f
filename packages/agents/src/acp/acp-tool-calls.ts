import type { Json, JsonObject } from '@concerto/base';
import { type AgentEvent, textContent } from '@concerto/protocol';
import type { AgentOutput } from '../agent-connection.ts';
import { toolName } from './acp-permission.ts';
import type { ContentBlock, ToolCall, ToolContent } from './acp-wire.ts';
import { isJsonObject } from './json-object.ts';

/** Calls of one turn that are remembered; of more only the words pass. */
const callsMax = 10_000;

type Known = { call: ToolCall; isShown: boolean; isOver: boolean };

/**
 * The tool calls of one turn. An agent may tell of a call in pieces (first without its input, then with it), only in the
 * request for permission, or never how it ended: a session sees each begin once, with what it was called with, and end once.
 */
export class AcpToolCalls {
  readonly #scope: string;
  readonly #calls = new Map<string, Known>();

  /** Agents number their calls anew for each turn; `scope` keeps them apart. */
  constructor(scope: string) {
    this.#scope = scope;
  }

  began(call: ToolCall): AgentOutput[] {
    const known = this.#known(call);
    if (known === undefined || known.isShown) return this.changed(call);
    const waitsForInput = isEmpty(known.call.rawInput) && (call.status ?? 'pending') === 'pending';
    return waitsForInput ? [] : [...this.#show(known), ...this.#end(known)];
  }

  changed(change: ToolCall): AgentOutput[] {
    const known = this.#known(change);
    if (known === undefined || known.isOver) return [];
    const outputs = this.#show(known);
    const { title, status, name } = change;
    if (outputs.length === 0 && !isOver(status) && (title ?? status ?? undefined) !== undefined) {
      const shown = title ?? status ?? '';
      outputs.push(
        said({ ...wordsOf('tool_call_update', known.call), ...(name == null ? {} : { name }) }, [
          { type: 'functionCallUpdate', callId: this.#callId(change), status: shown },
        ]),
      );
    }
    return [...outputs, ...this.#end(known)];
  }

  /** What is known of a call, now that permission is asked for it: it is shown before the question. */
  asked(call: ToolCall): { readonly call: ToolCall; readonly outputs: AgentOutput[] } {
    const known = this.#known(call);
    return known === undefined ? { call, outputs: [] } : { call: known.call, outputs: this.#show(known) };
  }

  /** The turn is over: a call whose end was never told has one all the same. */
  close(status: 'unfinished' | 'cancelled'): AgentOutput[] {
    const open = [...this.#calls.values()].filter(({ isOver: over }) => !over);
    return open.flatMap((known) => {
      const outputs = this.#show(known);
      known.call = { ...known.call, status };
      return [...outputs, this.#ended(known)];
    });
  }

  #known(change: ToolCall): Known | undefined {
    const known = this.#calls.get(change.toolCallId);
    if (known === undefined) {
      if (this.#calls.size >= callsMax) return undefined;
      const first = { call: change, isShown: false, isOver: false };
      this.#calls.set(change.toolCallId, first);
      return first;
    }
    const told = Object.entries(change).filter(([, value]) => value !== null && value !== undefined);
    known.call = { ...known.call, ...Object.fromEntries(told) };
    return known;
  }

  #show(known: Known): AgentOutput[] {
    if (known.isShown) return [];
    known.isShown = true;
    const { call } = known;
    const event: AgentEvent = {
      type: 'functionCall',
      callId: this.#callId(call),
      name: nameOf(call),
      args: argsOf(call.rawInput),
      ...(call.title == null ? {} : { title: call.title }),
    };
    return [said(wordsOf('tool_call', call), [event])];
  }

  #end(known: Known): AgentOutput[] {
    if (known.isOver || !isOver(known.call.status)) return [];
    return [this.#ended(known)];
  }

  #ended(known: Known): AgentOutput {
    known.isOver = true;
    const { call } = known;
    const response = resultOf(call);
    return said({ ...wordsOf('tool_call_update', call), ...response }, [
      {
        type: 'functionResult',
        callId: this.#callId(call),
        content: { role: 'user', parts: [{ functionResponse: { name: nameOf(call), response } }] },
      },
    ]);
  }

  #callId({ toolCallId }: ToolCall): string {
    return `${this.#scope}/${toolCallId}`;
  }
}

/** A message of the driver's own: a program reads the words, a session shows the events. */
export function said(
  words: JsonObject & { readonly type: string },
  shown: readonly AgentEvent[],
): Extract<AgentOutput, { kind: 'message' }> {
  return { kind: 'message', message: { type: 'custom', name: words.type, fields: words }, raw: words, shown };
}

/** The text of a block, or of what it refers to; undefined when it has none. */
export function blockText({ type, text, name, uri, resource }: ContentBlock): string | undefined {
  if (type === 'text') return text ?? '';
  if (type === 'resource') return resource?.text ?? resource?.uri ?? undefined;
  if (type === 'resource_link') return `[${name ?? uri ?? 'link'}](${uri ?? ''})`;
  return undefined;
}

/** What a session shows of a block without text. */
export function blockEvent({ type, data, mimeType }: ContentBlock): AgentEvent {
  if (data == null) return { type: 'content', content: textContent(`[${type}]`) };
  const inlineData = { mimeType: mimeType ?? 'application/octet-stream', data };
  return { type: 'content', content: { role: 'model', parts: [{ inlineData }] } };
}

function wordsOf(type: 'tool_call' | 'tool_call_update', call: ToolCall): JsonObject & { readonly type: string } {
  const { toolCallId, title, kind, status, rawInput, locations } = call;
  const paths = (locations ?? []).map(({ path }) => path);
  return {
    type,
    call_id: toolCallId,
    name: nameOf(call),
    ...(title == null ? {} : { title }),
    ...(kind == null ? {} : { kind }),
    ...(status == null ? {} : { status }),
    ...(type === 'tool_call' && rawInput !== undefined ? { input: rawInput } : {}),
    ...(paths.length === 0 ? {} : { paths }),
  };
}

function resultOf(call: ToolCall): JsonObject {
  const { status, rawOutput, content } = call;
  const pieces = (content ?? []).map(contentOf).filter((piece) => piece !== undefined);
  const texts = pieces.filter((piece) => typeof piece === 'string');
  const changes = pieces.filter((piece) => typeof piece !== 'string');
  return {
    status: status ?? 'completed',
    ...(texts.length === 0 ? {} : { text: texts.join('\n') }),
    ...(changes.length === 0 ? {} : { changes }),
    ...(rawOutput === undefined || texts.length > 0 ? {} : { output: rawOutput }),
  };
}

function contentOf({ type, content, path, oldText, newText }: ToolContent): string | JsonObject | undefined {
  if (type === 'content' && content != null) return blockText(content) ?? `[${content.type}]`;
  if (type === 'diff') return { path: path ?? '', old: oldText ?? null, new: newText ?? '' };
  return undefined;
}

function nameOf(call: ToolCall): string {
  return toolName(call) ?? call.kind ?? 'tool';
}

function argsOf(input: Json | undefined): Record<string, Json> {
  if (input === undefined || input === null) return {};
  return isJsonObject(input) ? { ...input } : { input };
}

function isEmpty(input: Json | undefined): boolean {
  return Object.keys(argsOf(input)).length === 0;
}

function isOver(status: string | null | undefined): boolean {
  return status === 'completed' || status === 'failed';
}
