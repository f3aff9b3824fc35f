import type { Json } from '@concerto/base';
import { AgentEvent } from '@concerto/protocol';
import { FormRequest, PermissionRequest, SessionUpdate, ToolCall } from '@concerto/protocol/acp';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AgentOutput } from '../agent-connection.ts';
import { formQuestions } from './acp-form.ts';
import { approvalOf, decisionOf } from './acp-permission.ts';
import { AcpTurn, type TurnUpdate } from './acp-turn.ts';

const json = fc.jsonValue({ maxDepth: 3 }).map((value): Json => JSON.parse(JSON.stringify(value)));
const maybe = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.option(value, { nil: undefined });
const block = fc.oneof(
  fc.record({ type: fc.constantFrom('text', 'image', 'resource', 'resource_link', 'new'), text: fc.string() }),
  json,
);

const call = fc.record({
  toolCallId: fc.constantFrom('1', '2', 'run_shell_command__3', ''),
  title: maybe(fc.string()),
  kind: maybe(fc.constantFrom('read', 'execute', 'new')),
  status: maybe(fc.constantFrom('pending', 'in_progress', 'completed', 'failed', null)),
  rawInput: maybe(json),
  rawOutput: maybe(json),
  content: maybe(fc.array(fc.oneof(fc.record({ type: fc.constantFrom('content', 'diff'), content: block }), json))),
});

const update = fc.oneof(
  fc.record({
    sessionUpdate: fc.constantFrom('agent_message_chunk', 'agent_thought_chunk'),
    content: block,
    messageId: maybe(fc.constantFrom('a', 'b')),
  }),
  fc.tuple(fc.constantFrom('tool_call', 'tool_call_update'), call).map(([sessionUpdate, fields]) => ({
    sessionUpdate,
    ...fields,
  })),
  fc.record({
    sessionUpdate: fc.constant('plan'),
    entries: fc.array(fc.record({ content: fc.string(), status: json })),
  }),
  json,
);

function isOfTurn(told: SessionUpdate): told is TurnUpdate {
  return !/^(usage|available_commands|current_mode|config_option|session_info)_update$/.test(told.sessionUpdate);
}

test('whatever an agent tells, every event has its shape, and each call begins once and ends once', () => {
  fc.assert(
    fc.property(
      fc.array(update, { maxLength: 30 }),
      fc.constantFrom('end_turn', 'cancelled', 'new'),
      (told, stopReason) => {
        const turn = new AcpTurn('m1');
        const outputs: AgentOutput[] = [];
        for (const one of told) {
          const parsed = SessionUpdate.safeParse(one);
          if (parsed.success && isOfTurn(parsed.data)) outputs.push(...turn.update(parsed.data));
        }
        outputs.push(...turn.ended({ stopReason }, {}));
        const events = outputs.flatMap((output) => (output.kind === 'message' ? (output.shown ?? []) : []));
        for (const event of events) AgentEvent.parse(event);
        const ids = (type: string): string[] =>
          events.flatMap((event) => (event.type === type && 'callId' in event ? [event.callId ?? ''] : [])).toSorted();
        expect(ids('functionResult')).toEqual(ids('functionCall'));
        expect(new Set(ids('functionCall')).size).toBe(ids('functionCall').length);
        const last = outputs.at(-1);
        expect(last?.kind === 'message' && ['result', 'error'].includes(last.raw.type)).toBe(true);
      },
    ),
  );
});

const option = fc.record({
  optionId: fc.string(),
  name: fc.string(),
  kind: fc.constantFrom('allow_once', 'allow_always', 'reject_once', 'reject_always', 'new'),
});

test('only a yes or the name of an option allows anything', () => {
  fc.assert(
    fc.property(fc.array(option), call, json, (options, toolCall, answer) => {
      const parsedCall = ToolCall.safeParse(toolCall);
      if (!parsedCall.success) return;
      const request = PermissionRequest.parse({ sessionId: 's', toolCall: parsedCall.data, options });
      expect(approvalOf(request, parsedCall.data, { callId: 'c' }).type).toBe('approval');
      const { outcome } = decisionOf(answer, request.options);
      if (outcome.outcome !== 'selected') return;
      const chosen = request.options.find(({ optionId }) => optionId === outcome.optionId);
      if (chosen?.kind.startsWith('allow') !== true) return;
      const words = JSON.stringify(answer).toLowerCase();
      const isNamed = request.options.some(({ optionId, name }) =>
        [optionId, name.trim()].some(
          (word) => word !== '' && words.includes(JSON.stringify(word).slice(1, -1).toLowerCase()),
        ),
      );
      expect(isNamed || /^"\s*(y|yes|true|ok|approved?|allow)\s*"$|true/.test(words)).toBe(true);
    }),
  );
});

const field = fc.record({
  type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'new'),
  title: maybe(fc.string()),
  enum: maybe(fc.array(fc.string())),
  items: maybe(fc.record({ enum: maybe(fc.array(fc.string())) })),
});

test('any answer to any field is either content or a hint', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), field), json, (properties, answer) => {
      const form = FormRequest.safeParse({ message: 'Please', requestedSchema: { properties } });
      if (!form.success) return;
      for (const question of formQuestions(form.data)) {
        const read = question.read(answer);
        expect(read.ok || read.error.length > 0).toBe(true);
      }
    }),
  );
});

/** What a session is shown of these updates. */
function shownOf(turn: AcpTurn, ...updates: readonly Record<string, unknown>[]): readonly unknown[] {
  const outputs = updates.flatMap((one) => {
    const told = SessionUpdate.parse(one);
    return isOfTurn(told) ? turn.update(told) : [];
  });
  return outputs.flatMap((output) => (output.kind === 'message' ? (output.shown ?? []) : []));
}

test('a thought is of the message that it was told for, to its last word', () => {
  const thinks = (messageId: string, text: string) => ({
    sessionUpdate: 'agent_thought_chunk',
    messageId,
    content: { type: 'text', text },
  });
  const told = [thinks('a', 'One.'), thinks('b', 'Two.\n'), thinks('b', '\n'), thinks('b', 'Three.')];
  const plan = { sessionUpdate: 'plan', entries: [] };
  expect(shownOf(new AcpTurn('m1'), ...told, plan)).toEqual([
    { type: 'thought', text: 'One.', messageId: 'a' },
    { type: 'thought', text: 'Two.\n', messageId: 'b' },
    { type: 'thought', text: '\nThree.', messageId: 'b' },
  ]);
});

const began = { sessionUpdate: 'tool_call', toolCallId: '1', title: 'Terminal', kind: 'execute' };
const changed = { sessionUpdate: 'tool_call_update', toolCallId: '1' };

test('what a call was given is seen, also when it is told only at its end', () => {
  const rawInput = { command: 'ls' };
  const told = shownOf(
    new AcpTurn('m1'),
    { ...began, status: 'in_progress' },
    { ...changed, status: 'completed', rawInput },
  );
  expect(told).toMatchObject([
    { type: 'functionCall', callId: 'm1/1', args: {} },
    { type: 'functionCallUpdate', callId: 'm1/1', extra: { args: rawInput } },
    { type: 'functionResult', callId: 'm1/1', outcome: 'ok' },
  ]);
});

test('a call that begins under the id of one that is over is another call, and is asked for as such', () => {
  const watched: unknown[] = [];
  const watch = {
    began: (_id: string, name: string | undefined) => watched.push(name),
    asked: () => {},
    ended: () => {},
  };
  const turn = new AcpTurn('m1', {}, { naming: 'name', watch });
  const read = { ...began, name: 'Read', kind: 'read', status: 'completed', rawInput: { path: 'a' } };
  const run = { ...began, name: 'Bash', status: 'in_progress', rawInput: { command: 'rm a' } };
  const told = shownOf(turn, read, read, run, { ...changed, status: 'completed' });
  expect(told).toMatchObject([
    { type: 'functionCall', callId: 'm1/1', name: 'Read' },
    { type: 'functionResult', callId: 'm1/1' },
    { type: 'functionCall', callId: 'm1/1#2', name: 'Bash', args: { command: 'rm a' } },
    { type: 'functionResult', callId: 'm1/1#2' },
  ]);
  expect(watched).toEqual(['Read', 'Bash']);

  const asked = turn.asked(ToolCall.parse({ toolCallId: '1', name: 'Edit', kind: 'edit' }));
  expect(asked).toMatchObject({ callId: 'm1/1#3', call: { name: 'Edit' } });
});
