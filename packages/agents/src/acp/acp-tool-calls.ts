import type { Json, JsonObject } from '@concerto/base';
import type { Location } from '@concerto/protocol';
import type { ToolCall } from '@concerto/protocol/acp';
import type { AgentOutput } from '../agent-connection.ts';
import { said, type ToolOutcome, toolCall, toolOutput, toolResult } from '../driver-output.ts';
import { isJsonObject, memberOf } from '../json-member.ts';
import { toolKind } from '../tool-kind.ts';
import { contentOf } from './acp-content.ts';
import { describeCall } from './acp-permission.ts';
import { type ToolNaming, toolInput, toolName } from './acp-tool-rules.ts';

/** Calls of one turn that are remembered; of more only the words pass. */
const callsMax = 10_000;
/** What an agent tells beside the words of a result is kept up to here. */
const extraCharactersMax = 2_000;

type Known = { call: ToolCall; isShown: boolean; isOver: boolean; isRefused: boolean; output: string; status: string };

/** Who watches over the calls, by the agent's own ids. */
export type CallWatch = {
  readonly began: (callId: string, name: string | undefined) => void;
  readonly asked: (callId: string) => void;
  readonly ended: (callId: string, wasUsed: boolean) => void;
};

/**
 * The tool calls of one turn. An agent may tell of a call in pieces (first without its input, then with it), only in the
 * request for permission, or never how it ended: a session sees each begin once, with what it was called with, and end once.
 */
export class AcpToolCalls {
  readonly #scope: string;
  readonly #naming: ToolNaming | 'nowhere';
  readonly #watch: CallWatch | undefined;
  readonly #calls = new Map<string, Known>();
  /** How many calls an id has named that names more than one. */
  readonly #uses = new Map<string, number>();

  /** Agents number their calls anew for each turn; `scope` keeps them apart. */
  constructor(scope: string, naming: ToolNaming | 'nowhere' = 'name', watch?: CallWatch) {
    this.#scope = scope;
    this.#naming = naming;
    this.#watch = watch;
  }

  began(call: ToolCall, messageId: string | undefined): AgentOutput[] {
    if (!isOver(call.status)) this.#again(call);
    const known = this.#known(call);
    if (known === undefined || known.isShown) return this.changed(call, messageId);
    // Some tell the input only with the first change, or a part of it before.
    const mayGrow = isEmpty(known.call.rawInput) || this.#naming === 'title';
    const waitsForInput = mayGrow && (call.status ?? 'pending') === 'pending';
    return waitsForInput ? [] : [...this.#show(known, messageId), ...this.#end(known)];
  }

  changed(change: ToolCall, messageId: string | undefined): AgentOutput[] {
    const before = this.#calls.get(change.toolCallId)?.call.rawInput;
    const known = this.#known(change);
    if (known === undefined || known.isOver) return [];
    const outputs = this.#show(known, messageId);
    const status = change.title ?? change.status ?? known.status;
    const grown = outputs.length === 0 && isMore(change.rawInput, before) ? argsOf(change.rawInput) : undefined;
    // Agents repeat themselves; what is new is told.
    const isNews = grown !== undefined || (status !== known.status && !isOver(change.status));
    if (outputs.length === 0 && isNews) {
      outputs.push(this.#update(known, isOver(change.status) ? known.status : status, grown));
    }
    known.status = status;
    return [...outputs, ...this.#written(known, change), ...this.#end(known)];
  }

  /** What is known of a call, now that permission is asked for it: it is shown before the question. */
  asked(
    call: ToolCall,
    messageId: string | undefined,
  ): { readonly call: ToolCall; readonly callId: string; readonly outputs: AgentOutput[] } {
    this.#again(call);
    const callId = this.#callId(call);
    // Its title is what is asked for, not what the tool is called.
    const known = this.#known(call, this.#naming !== 'title');
    if (known === undefined) return { call: { ...call, name: undefined }, callId, outputs: [] };
    const outputs = this.#show(known, messageId);
    this.#watch?.asked(call.toolCallId);
    return { call: known.call, callId, outputs };
  }

  refused(toolCallId: string): void {
    const known = this.#calls.get(toolCallId);
    if (known !== undefined) known.isRefused = true;
  }

  /** The turn is over: a call whose end was never told has one all the same. */
  close(status: 'unfinished' | 'cancelled'): AgentOutput[] {
    const open = [...this.#calls.values()].filter(({ isOver: over }) => !over);
    return open.flatMap((known) => {
      const outputs = this.#show(known, undefined);
      known.call = { ...known.call, status };
      return [...outputs, this.#ended(known)];
    });
  }

  /** One that begins under the id of one that is over is another call: what was known of that is not known of this. */
  #again({ toolCallId }: ToolCall): void {
    if (this.#calls.get(toolCallId)?.isOver !== true) return;
    this.#calls.delete(toolCallId);
    this.#uses.set(toolCallId, (this.#uses.get(toolCallId) ?? 1) + 1);
  }

  /** `call.name` is the tool's own from here on, as far as the agent tells it. */
  #known(change: ToolCall, isNaming = true): Known | undefined {
    const known = this.#calls.get(change.toolCallId);
    const began = known?.call ?? change;
    const name = known?.call.name ?? (isNaming ? toolName(change, began, this.#naming) : undefined);
    if (known === undefined) {
      if (this.#calls.size >= callsMax) return undefined;
      const call = { ...change, name };
      const first = {
        call: { ...call, rawInput: toolInput(call, this.#naming) },
        isShown: false,
        isOver: false,
        isRefused: false,
        output: '',
        status: '',
      };
      this.#calls.set(change.toolCallId, first);
      return first;
    }
    const told = Object.entries(change).filter(([, value]) => value !== null && value !== undefined);
    const meta = { ...known.call._meta, ...change._meta };
    known.call = { ...known.call, ...Object.fromEntries(told), name, _meta: meta };
    return known;
  }

  #show(known: Known, messageId: string | undefined): AgentOutput[] {
    if (known.isShown) return [];
    known.isShown = true;
    const { call } = known;
    this.#watch?.began(call.toolCallId, call.name ?? undefined);
    known.status = call.title ?? call.status ?? '';
    const parent = call._meta?.claudeCode?.parentToolUseId;
    const { changes } = contentOf(call);
    return [
      toolCall({
        id: this.#callId(call),
        name: nameOf(call),
        input: argsOf(call.rawInput),
        what: describeCall(call),
        kind: toolKind(call.kind),
        ...(call.title == null ? {} : { title: call.title }),
        ...(messageId === undefined ? {} : { messageId }),
        ...locationsOf(call),
        ...(changes.length === 0 ? {} : { changes }),
        ...(parent == null ? {} : { parentCallId: `${this.#scope}/${parent}` }),
      }),
    ];
  }

  #update(known: Known, status: string, args: JsonObject | undefined): AgentOutput {
    const callId = this.#callId(known.call);
    const message = `${nameOf(known.call)}: ${status}`;
    const { changes } = contentOf(known.call);
    return said(
      { type: 'log', level: 'debug', message, call_id: callId, ...(args === undefined ? {} : { input: args }) },
      [
        {
          type: 'functionCallUpdate',
          callId,
          status,
          ...locationsOf(known.call),
          ...(changes.length === 0 ? {} : { changes: [...changes] }),
          ...(args === undefined ? {} : { extra: { args } }),
        },
      ],
    );
  }

  /** What a running call has written since the last time; some tell the whole each time. */
  #written(known: Known, change: ToolCall): AgentOutput[] {
    const delta = deltaIn(change);
    const whole = isOver(change.status) ? undefined : contentOf({ content: change.content }).text;
    const text = delta ?? (whole?.startsWith(known.output) === true ? whole.slice(known.output.length) : '');
    if (text === '' || (delta === undefined && change.status !== 'in_progress')) return [];
    known.output += text;
    return [toolOutput(this.#callId(known.call), text)];
  }

  #end(known: Known): AgentOutput[] {
    if (known.isOver || !isOver(known.call.status)) return [];
    this.#watch?.ended(known.call.toolCallId, known.call.status === 'completed');
    return [this.#ended(known)];
  }

  #ended(known: Known): AgentOutput {
    known.isOver = true;
    const { call } = known;
    return toolResult({ id: this.#callId(call), name: nameOf(call) }, outcomeOf(known));
  }

  #callId({ toolCallId }: ToolCall): string {
    const use = this.#uses.get(toolCallId);
    return use === undefined ? `${this.#scope}/${toolCallId}` : `${this.#scope}/${toolCallId}#${use}`;
  }
}

function outcomeOf({ call, isRefused, output }: Known): ToolOutcome {
  const { text, parts, changes } = contentOf(call);
  const failed = call.status === 'failed';
  const isStopped = call.status === 'unfinished' || call.status === 'cancelled';
  const { rawOutput } = call;
  const shown = text ?? (output === '' ? outputText(rawOutput) : output);
  const extra = text === undefined || !isJsonObject(rawOutput) ? undefined : rawOutput;
  return {
    text: shown ?? call.status ?? '',
    failed: failed || isRefused || isStopped,
    ...endOf(isRefused, isStopped),
    ...(parts.length === 0 ? {} : { parts }),
    ...locationsOf(call),
    ...(changes.length === 0 ? {} : { changes }),
    ...(extra !== undefined && JSON.stringify(extra).length <= extraCharactersMax ? { extra } : {}),
  };
}

function endOf(isRefused: boolean, isStopped: boolean): Pick<ToolOutcome, 'outcome'> {
  if (isRefused) return { outcome: 'denied' };
  return isStopped ? { outcome: 'cancelled' } : {};
}

function deltaIn({ _meta: meta }: ToolCall): string | undefined {
  const told = meta?.terminal_output_delta;
  if (told == null) return undefined;
  const text = typeof told === 'string' ? told : (memberOf(told, 'data') ?? memberOf(told, 'text'));
  return typeof text === 'string' ? text : undefined;
}

function locationsOf({ locations }: ToolCall): { locations?: Location[] } {
  if (locations == null || locations.length === 0) return {};
  return {
    locations: locations.map(({ path, line }) => ({
      path,
      ...(line == null || line < 0 ? {} : { line: Math.floor(line) }),
    })),
  };
}

function outputText(output: Json | undefined): string | undefined {
  if (output === undefined || output === null) return undefined;
  return typeof output === 'string' ? output : JSON.stringify(output);
}

function nameOf(call: ToolCall): string {
  return call.name ?? call.kind ?? 'tool';
}

function argsOf(input: Json | undefined): JsonObject {
  if (input === undefined || input === null) return {};
  return isJsonObject(input) ? input : { input };
}

function isEmpty(input: Json | undefined): boolean {
  return Object.keys(argsOf(input)).length === 0;
}

/** Whether it says something that was not said before. */
function isMore(input: Json | undefined, before: Json | undefined): boolean {
  const known = argsOf(before);
  return Object.entries(argsOf(input)).some(([key, value]) => JSON.stringify(known[key]) !== JSON.stringify(value));
}

function isOver(status: string | null | undefined): boolean {
  return status === 'completed' || status === 'failed';
}
