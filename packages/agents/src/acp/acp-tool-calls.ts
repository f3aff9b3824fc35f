import type { Json } from '@concerto/base';
import { shortened } from '@concerto/protocol';
import type { ToolCall } from '@concerto/protocol/acp';
import type { AgentOutput } from '../agent-connection.ts';
import { cut, said, toolCall } from '../driver-output.ts';
import { contentFields } from './acp-content.ts';
import { describeCall, toolName } from './acp-permission.ts';
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
    const status = change.title ?? change.status ?? undefined;
    if (outputs.length === 0 && status !== undefined && !isOver(change.status)) {
      const callId = this.#callId(change);
      const message = `${nameOf(known.call)}: ${status}`;
      outputs.push(
        said({ type: 'log', level: 'debug', message, call_id: callId }, [
          { type: 'functionCallUpdate', callId, status },
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
    const title = call.title ?? undefined;
    return [
      toolCall({
        id: this.#callId(call),
        name: nameOf(call),
        input: argsOf(call.rawInput),
        what: describeCall(call),
        ...(title === undefined ? {} : { title }),
      }),
    ];
  }

  #end(known: Known): AgentOutput[] {
    if (known.isOver || !isOver(known.call.status)) return [];
    return [this.#ended(known)];
  }

  #ended(known: Known): AgentOutput {
    known.isOver = true;
    const { call } = known;
    const callId = this.#callId(call);
    const name = nameOf(call);
    const failed = call.status === 'failed';
    const response = resultOf(call);
    const words = response.text ?? response.error ?? call.status ?? '';
    const message = `${name}${failed ? ' failed' : ''}: ${shortened(typeof words === 'string' ? words : '')}`;
    return said({ type: 'log', level: failed ? 'warn' : 'debug', message, call_id: callId }, [
      {
        type: 'functionResult',
        callId,
        content: { role: 'user', parts: [{ functionResponse: { name, response } }] },
      },
    ]);
  }

  #callId({ toolCallId }: ToolCall): string {
    return `${this.#scope}/${toolCallId}`;
  }
}

function resultOf({ status, rawOutput, content }: ToolCall): Record<string, Json> {
  const { details, ...changes } = contentFields({ content });
  const text = details ?? outputText(rawOutput);
  return {
    status: status ?? 'completed',
    ...(text === undefined ? {} : { [status === 'failed' ? 'error' : 'text']: text }),
    ...changes,
  };
}

function outputText(output: Json | undefined): string | undefined {
  if (output === undefined || output === null) return undefined;
  return cut(typeof output === 'string' ? output : JSON.stringify(output));
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
