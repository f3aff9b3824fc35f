import type { JsonObject } from '@concerto/base';
import { type AgentEvent, type KnownAgentMessage, shortened } from '@concerto/protocol';
import type { AgentOutput } from './agent-connection.ts';

/** What one call may show of its input or its output; a whole file or picture is the agent's business. */
const shownCharactersMax = 32_000;

/** A message of our own wire, as a driver says it in the name of its agent. */
export type DriverMessage = Exclude<KnownAgentMessage, { type: 'init_ack' }> & JsonObject;

export type Said = Extract<AgentOutput, { kind: 'message' }>;

export function said(message: DriverMessage, shown?: readonly AgentEvent[]): Said {
  return { kind: 'message', message, raw: message, ...(shown === undefined ? {} : { shown }) };
}

/** One that our wire has no name for: a program hears it by its name. */
export function saidCustom(name: string, fields: JsonObject, shown?: readonly AgentEvent[]): Said {
  const raw = { type: name, ...fields };
  return {
    kind: 'message',
    message: { type: 'custom', name, fields: raw },
    raw,
    ...(shown === undefined ? {} : { shown }),
  };
}

export function log(level: 'debug' | 'info' | 'warn', message: string, fields: JsonObject = {}): Said {
  return said({ type: 'log', level, message, ...fields });
}

export function thought(text: string): Said {
  return saidCustom('thought', { text }, [{ type: 'thought', text }]);
}

/** Names the conversation, so that a later process can go on with it. */
export function conversation(id: string): Said {
  return saidCustom('conversation', { id });
}

export type ToolCall = {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly what: string;
  readonly title?: string;
};

/** A program hears of progress; a session shows the call itself. */
export function toolCall({ id, name, input, what, title }: ToolCall): Said {
  const args = withinLimit(input);
  return said({ type: 'progress', message: what, stage: name, call_id: id, input: args }, [
    { type: 'functionCall', callId: id, name, args, ...(title === undefined ? {} : { title }) },
  ]);
}

export function toolResult(
  { id, name }: Pick<ToolCall, 'id' | 'name'>,
  outcome: { readonly text: string; readonly failed: boolean },
): Said {
  const text = cut(outcome.text);
  const response = outcome.failed ? { error: text } : { result: text };
  const shown: AgentEvent[] = [
    {
      type: 'functionResult',
      callId: id,
      content: { role: 'user', parts: [{ functionResponse: { name, response } }] },
    },
  ];
  if (outcome.failed) {
    shown.unshift({
      type: 'subagentError',
      callId: id,
      error: { $error: shortened(text), metadata: { origin: 'agent' } },
    });
  }
  const message = `${name}${outcome.failed ? ' failed' : ''}: ${shortened(text)}`;
  return said({ type: 'log', level: outcome.failed ? 'warn' : 'debug', message, call_id: id, output: text }, shown);
}

/** Enough to read along by. */
export function cut(text: string): string {
  if (text.length <= shownCharactersMax) return text;
  return `${text.slice(0, shownCharactersMax)}\n[cut after ${shownCharactersMax} of ${text.length} characters]`;
}

function withinLimit(input: JsonObject): JsonObject {
  if (JSON.stringify(input).length <= shownCharactersMax) return input;
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      typeof value === 'string' ? cut(value) : cut(JSON.stringify(value)),
    ]),
  );
}
