import { buildProgram, readManifest } from '@concerto/language';
import type { PublicEvent } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { replaySupervisor } from '../src/index.ts';

const places = { environment: {}, directory: '.', projectDirectory: '.', name: 'guard' };

function moduleOf(body: string, how = '') {
  const source = `model Architect { provider: "mock", model: "x" }
@supervisor
fn guard(session: Session) {
    let mut calls = 0;
    listen session {
        "tool_call" => |c: ToolCall| { calls = calls + 1; },
        "approval"${how} => |a: Approval| { ${body} },
    };
}
`;
  const { manifest } = readManifest('');
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => source, manifest });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return module;
}

function approval(requestId: string, scope: { readonly [key: string]: string }): PublicEvent {
  return { type: 'queryConsent', requestId, consentType: 'tool', scope, graphUrl: '' };
}

const question: PublicEvent = {
  type: 'waitForInput',
  requestId: 'q',
  prompt: { role: 'user', parts: [{ text: 'Which?' }] },
  inputType: 'text',
};

const call: PublicEvent = { type: 'functionCall', callId: 'c', name: 'Bash', args: {} };

async function answersOf(body: string, events: readonly PublicEvent[], withinMs = 10_000, how = '') {
  const asked = new Set(events.flatMap((event) => ('requestId' in event ? [event.requestId] : [])));
  const answers = await replaySupervisor(moduleOf(body, how), { id: 's', events, asked }, { ...places, withinMs });
  return Object.fromEntries(answers);
}

test('it hears the session in order and answers, denies with a reason, or passes', async () => {
  const body = 'if a.tool == "Rm" { return "no, not from here"; } if calls == 1 { "yes" } else { nil }';
  const events = [approval('first', { tool: 'Bash' }), call, approval('second', { tool: 'Bash' }), question];
  expect(await answersOf(body, [...events, approval('third', { tool: 'Rm' })])).toEqual({
    first: { kind: 'passed', reason: 'it passes' },
    second: { kind: 'answer', response: true },
    q: { kind: 'passed', reason: 'it passes' },
    third: { kind: 'answer', response: false, reason: 'not from here' },
  });
});

test.each([
  ['a model', 'let v = Architect.execute("safe?")?; "yes"', /a model is asked, which a replay does not do/],
  ['the network', 'let v = std::http::get("http://127.0.0.1:1/").unwrap(); "yes"', /is called, which a replay/],
  ['a file', 'std::fs::write_file("replayed.txt", "x").unwrap(); "yes"', /replayed.txt is changed, which a replay/],
])('what would touch the world is not done, and passes: %s', async (_what, body, why) => {
  const { a } = await answersOf(body, [approval('a', { tool: 'Bash' })]);
  expect(a).toMatchObject({ kind: 'passed', reason: expect.stringMatching(why) });
});

test('one that takes too long, or throws, passes, and is asked the next', async () => {
  const body =
    'if a.tool == "Sleep" { std::time::sleep(60000); } if a.tool == "Break" { throw "broke"; } session.pause(); "yes"';
  const events = ['Sleep', 'Break', 'Bash'].map((tool) => approval(tool, { tool }));
  expect(await answersOf(body, events, 200)).toMatchObject({
    Sleep: { kind: 'passed', reason: 'it did not answer within 0.2 s' },
    Break: { kind: 'passed', reason: expect.stringContaining('broke') },
    Bash: { kind: 'answer', response: true },
  });
});

test('a handler beside the others that fails passes too, and the supervisor goes on listening', async () => {
  const body = 'std::time::sleep(1); if a.tool == "Break" { throw "broke"; } "yes"';
  const events = ['Break', 'Bash'].map((tool) => approval(tool, { tool }));
  expect(await answersOf(body, events, 10_000, ' (parallel: true)')).toMatchObject({
    Break: { kind: 'passed', reason: expect.stringContaining('broke') },
    Bash: { kind: 'answer', response: true },
  });
});

test('one that cannot be run says why, instead of being waited for', async () => {
  const begin = async (): Promise<never> => {
    throw new Error('there is no process for it');
  };
  const past = { id: 's', events: [approval('a', { tool: 'Bash' })], asked: new Set(['a']) };
  await expect(replaySupervisor(moduleOf('"yes"'), past, { ...places, machines: { begin } })).rejects.toThrow(
    'there is no process for it',
  );
});
