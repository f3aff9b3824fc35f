import type { Json } from '@concerto/base';
import type { PublicEvent } from '@concerto/protocol';
import { describe, expect, test } from 'vitest';
import { AguiFold } from '../src/index.ts';
import { Narration } from '../src/narration.ts';
import type { Told } from '../src/told.ts';
import { recordedLogs } from './recorded-logs.ts';

function told(name: string): readonly Told[] {
  const log = recordedLogs.find((recorded) => recorded.name === name);
  const narration = new Narration();
  return (log?.events ?? []).flatMap((event) => narration.take(event));
}

/** What has to be open when it is told. */
function openBefore(each: Told): { readonly open: string | undefined } | 'any' {
  switch (each.tell) {
    case 'text':
    case 'thought':
    case 'text-ended':
    case 'thought-ended':
      return { open: each.id };
    case 'text-began':
    case 'thought-began':
    case 'call-began':
    case 'user':
    case 'turn-ended':
      return { open: undefined };
    default:
      return 'any';
  }
}

describe.each(recordedLogs)('what is told of $name', ({ name, events }) => {
  const all = told(name);

  test('closes what it opens before something else opens, and nothing is said outside', () => {
    const wrong: Told[] = [];
    let open: string | undefined;
    for (const each of all) {
      const allowed = openBefore(each);
      if (allowed !== 'any' && open !== allowed.open) wrong.push(each);
      if (each.tell === 'text-began' || each.tell === 'thought-began') open = each.id;
      if (each.tell === 'text-ended' || each.tell === 'thought-ended') open = undefined;
    }
    expect(wrong).toEqual([]);
    expect(open).toBeUndefined();
  });

  test('has the arguments of each call once, between its begin and its one result', () => {
    const calls = new Map<string, string[]>();
    for (const each of all) {
      if (each.tell !== 'call-began' && each.tell !== 'call-args' && each.tell !== 'call-result') continue;
      calls.set(each.call.callId, [...(calls.get(each.call.callId) ?? []), each.tell]);
    }
    for (const steps of calls.values()) expect(steps).toEqual(['call-began', 'call-args', 'call-result']);
  });

  test('has every message of a person once, every turn with one end, every request with one settlement', () => {
    const of = (tell: Told['tell']): readonly Told[] => all.filter((each) => each.tell === tell);
    const users = of('user').map((each) => Reflect.get(each, 'id'));
    expect(new Set(users).size).toBe(users.length);
    expect(of('turn-began')).toHaveLength(of('turn-ended').length);
    expect(of('asked')).toHaveLength(of('settled').length);
    expect(users.length).toBe(
      new Set(events.flatMap((e) => (e.type === 'message' && e.message.status === 'delivered' ? [e.message.id] : [])))
        .size,
    );
  });
});

test('a text that was streamed and then stands whole is said once', () => {
  const text = told('codex-sub-agent').flatMap((each) => (each.tell === 'text' ? [each.delta] : []));
  expect(text.join('|')).toBe('I ask.|Which?\n- x\n- y|Waiting |for my a|gent.');
});

test('a text that was corrected replaces what was said', () => {
  const narration = new Narration();
  const at = '2026-11-16T00:00:00.000Z';
  const content = (text: string) => ({ role: 'model', parts: [{ text }] });
  const all = [
    { type: 'start', objective: content('go'), at, seq: 1 } as const,
    { type: 'content', content: content('one'), messageId: 'm', at, seq: 2 } as const,
    { type: 'content', content: content('two'), messageId: 'm', whole: true, at, seq: 3 } as const,
  ].flatMap((event) => narration.take(event));
  expect(all.slice(-2)).toEqual([
    { tell: 'text-ended', id: 'm' },
    { tell: 'text-replaced', id: 'm', text: 'two' },
  ]);
  const fold = new AguiFold();
  const said = [
    { type: 'content', content: content('one'), messageId: 'm', at, seq: 2 } as const,
    { type: 'content', content: content('two'), messageId: 'm', whole: true, at, seq: 3 } as const,
  ].flatMap((event) => fold.take(event));
  expect(said.at(-1)).toEqual({
    type: 'MESSAGES_SNAPSHOT',
    messages: [{ id: 'm', role: 'assistant', content: 'two' }],
  });
});

test('what a call was given may be told late, beside what it does: once, and again only where it is something else', () => {
  const at = new Date(0).toISOString();
  const call: PublicEvent = { type: 'functionCall', callId: 'c1', name: 'Bash', args: {} };
  const given = (args: Json): PublicEvent => ({
    type: 'functionCallUpdate',
    callId: 'c1',
    status: null,
    extra: { args },
  });
  const said = [call, given('odd'), given({ command: 'pwd' }), given({ command: 'pwd' }), given({ command: 'ls' })];
  const narration = new Narration();
  const all = said.flatMap((event, index) => narration.take({ ...event, at, seq: index + 1 }));
  const calls = all.filter((each) => 'call' in each).map((each) => ({ tell: each.tell, args: each.call.args }));
  expect(calls).toEqual([
    { tell: 'call-began', args: {} },
    { tell: 'call-args', args: { command: 'pwd' } },
    { tell: 'call-retold', args: { command: 'ls' } },
  ]);
});
