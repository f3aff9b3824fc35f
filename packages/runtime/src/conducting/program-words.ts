import type { AgentOutput } from '@concerto/agents';
import type { Json, JsonObject } from '@concerto/base';
import { type ApprovalMessage, parseAgentLine, type QuestionMessage } from '@concerto/protocol';
import type { PlainValue, ProgramFailure } from '../program/machine/machine.ts';
import type { WorkerOutput } from '../worker.ts';

type Spoken = Extract<AgentOutput, { kind: 'message' }>;
export type ProgramWord = Pick<Spoken, 'message' | 'raw'>;

/** Channels that mean in a program what they mean from an agent, and where a bare text goes in them. */
const knownChannels: ReadonlyMap<string, string> = new Map([
  ['progress', 'message'],
  ['log', 'message'],
  ['partial', 'text'],
]);

/** What `emit` says. Whatever its channel is called, it neither asks nor ends anything. */
export function emitted(channel: string, payload: PlainValue): ProgramWord {
  const json = dataOf(payload);
  const textField = knownChannels.get(channel);
  if (textField === undefined) return custom(channel, isObject(json) ? json : { value: json });
  const fields = isObject(json) ? json : { [textField]: typeof json === 'string' ? json : payload.shown };
  const level = channel === 'log' && fields.level === undefined ? { level: 'info' } : {};
  const read = parseAgentLine(JSON.stringify({ ...fields, ...level, type: channel }));
  if (read.kind !== 'message' || read.message.type === 'init_ack' || read.problem !== undefined) {
    return custom(channel, fields);
  }
  return { message: read.message, raw: read.raw };
}

/** Its fields are the payload's, a `type` of its own among them. */
function custom(channel: string, fields: JsonObject): ProgramWord {
  return { raw: { ...fields, type: channel }, message: { type: 'custom', name: channel, fields } };
}

/**
 * What `await emit` asks, with every field of its payload: one that looks like an agent's own question or approval keeps
 * its form, anything else is asked as text with the payload beside it.
 */
export function asked(channel: string, payload: PlainValue, id: string): ProgramWord {
  const json = dataOf(payload);
  const fields: JsonObject = isObject(json) ? json : {};
  if (typeof fields.description === 'string') {
    const { risk_level: risk, ...rest } = fields;
    const approval: ApprovalMessage = {
      channel,
      ...rest,
      ...(risk === undefined ? {} : { risk_level: typeof risk === 'string' ? risk : JSON.stringify(risk) }),
      type: 'approval',
      id,
      description: fields.description,
    };
    // A `type` of its own stands where it cannot be taken for ours; an `id` is that of the agent whose question is passed on.
    const own = 'type' in fields ? { payload: fields } : {};
    const raw = { ...fields, ...own, channel: fields.channel ?? channel, type: 'approval', id } as const;
    return { message: approval, raw };
  }
  return question(channel, { fields, id, text: payload.shown });
}

function question(
  channel: string,
  { fields, id, text }: { readonly fields: JsonObject; readonly id: string; readonly text: string },
): ProgramWord {
  const { question: own, options, multiple, context, id: _id, ...others } = fields;
  const all = { ...(context === undefined ? {} : { context }), ...others };
  const beside = Object.keys(others).length > 0 ? all : context;
  const message: QuestionMessage = {
    type: 'question',
    id,
    channel,
    question: typeof own === 'string' ? own : text,
    ...(Array.isArray(options) ? { options: options.map(optionText) } : {}),
    ...(typeof multiple === 'boolean' ? { multiple } : {}),
    ...(beside === undefined ? {} : { context: beside }),
  };
  return { message, raw: { ...fields, type: 'question', id } };
}

function optionText(option: Json): string {
  return typeof option === 'string' ? option : JSON.stringify(option);
}

/** What a program that has finished has come to. */
export function resultOf(value: PlainValue): JsonObject {
  const json = dataOf(value);
  // `type` is the message's own.
  if (isObject(json)) return 'type' in json ? { text: value.shown, value: json } : json;
  if (json === null) return { text: 'done' };
  return typeof json === 'string' ? { text: json } : { text: value.shown, value: json };
}

function dataOf({ written }: PlainValue): Json {
  return JSON.parse(written);
}

/** With the place in the program where it happened. */
export function failureText({ message, trace }: ProgramFailure): string {
  const place = trace.find(({ file }) => file !== undefined);
  const where = place?.file === undefined ? '' : ` (${place.file}:${place.line})`;
  // A limit of the whole program names the place itself.
  return message.endsWith(where) ? message : `${message}${where}`;
}

function isObject(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Of a call whose agent waits for its turn. */
export function queued(callId: string, agent: string): WorkerOutput {
  const status = `${agent} waits for a place in the pool`;
  return { kind: 'events', events: [{ type: 'functionCallUpdate', callId, status }] };
}
