import { LifecycleAccepted } from '@concerto/protocol';
import { ChatInput, ResumeBeta, RunAgentInput, StartBeta } from '@concerto/wires';
import * as z from 'zod';
import { Event } from './openapi-events.ts';
import type { Operation } from './openapi-operation.ts';

const ChatMessages = z.strictObject({
  messages: z.array(
    z.looseObject({ id: z.string(), role: z.string(), parts: z.array(z.looseObject({ type: z.string() })) }),
  ),
});
const StreamedEvents = z.array(Event);
const BetaSession = z.strictObject({ sessionId: z.string() });
const BetaStatus = BetaSession.extend({ status: z.string(), eventCount: z.number().int() });
const BetaCancelled = BetaSession.extend({ status: z.literal('cancelled') });
const BetaAnswered = z.strictObject({ ok: z.literal(true) });
const McpMessage = z.looseObject({ jsonrpc: z.literal('2.0') });

/** What the calls of other wires take and give, by the names that the document has for it. */
export const wireSchemas = {
  BetaAnswered,
  BetaCancelled,
  BetaSession,
  BetaStatus,
  ChatInput,
  ChatMessages,
  McpMessage,
  ResumeBeta,
  RunAgentInput,
  StartBeta,
  StreamedEvents,
} as const;

/** The calls of other wires. */
export const wireOperations: Readonly<Record<string, Operation>> = {
  'post /api/agui': {
    role: 'observer',
    summary: 'AG-UI: a run of the session that the thread is, which it begins if there is none',
    body: RunAgentInput,
    query: ['agent', 'program', 'assistant', 'template'],
    stream: true,
  },
  'post /api/agui/{id}': {
    role: 'observer',
    summary: 'AG-UI: a run of this session',
    body: RunAgentInput,
    stream: true,
  },
  'post /api/chat': {
    role: 'agent',
    summary: 'AI SDK: what was said and answered, then the UI message stream of what follows',
    body: ChatInput,
    query: ['agent', 'program', 'assistant', 'template'],
    stream: true,
  },
  'get /api/chat/{id}/stream': {
    role: 'observer',
    summary: 'AI SDK: the message that is being said, from its beginning; 204 when there is none',
    stream: true,
  },
  'get /api/chat/{id}/messages': {
    role: 'observer',
    summary: 'AI SDK: the messages so far',
    answer: ChatMessages,
  },
  'post /api/chat/{id}/stop': {
    role: 'agent',
    summary: 'AI SDK: stop what is being said',
    status: 202,
    answer: LifecycleAccepted,
  },
  'get /api/streams/sessions/{id}': {
    role: 'observer',
    summary: 'Durable Streams: the events from an offset on; `live` waits for more',
    answer: StreamedEvents,
    query: ['offset', 'live', 'cursor'],
    stream: true,
  },
  'post /v1beta1/sessions/new': {
    role: 'agent',
    summary: 'Sessions of seed 001’s project: begin a run',
    body: StartBeta,
    query: ['agent', 'program', 'assistant', 'template'],
    answer: BetaSession,
  },
  'get /v1beta1/sessions/{id}': {
    role: 'observer',
    summary: 'Sessions of seed 001’s project: the events after a number, until somebody is asked or all is said',
    query: ['alt', 'after'],
    stream: true,
  },
  'get /v1beta1/sessions/{id}/status': {
    role: 'observer',
    summary: 'Sessions of seed 001’s project: where it stands',
    answer: BetaStatus,
  },
  'post /v1beta1/sessions/{id}:resume': {
    role: 'member',
    summary: 'Sessions of seed 001’s project: answer what is asked',
    body: ResumeBeta,
    answer: BetaAnswered,
  },
  'post /v1beta1/sessions/{id}:cancel': {
    role: 'agent',
    summary: 'Sessions of seed 001’s project: end it',
    answer: BetaCancelled,
  },
  'post /mcp': {
    role: 'observer',
    summary: 'Model Context Protocol: a message of its streamable HTTP transport',
    body: McpMessage,
    answer: McpMessage,
    stream: true,
  },
  'get /mcp': { role: 'observer', summary: 'Model Context Protocol: what the server says by itself', stream: true },
  'delete /mcp': { role: 'observer', summary: 'Model Context Protocol: the end of a connection' },
};
