import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type AssistantStage, openAssistantStage, saidIn } from './assistant-stage.ts';

const everythingPath = createRequire(join(import.meta.dirname, '../../models/package.json')).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);
const everything = { transport: 'stdio', command: process.execPath, args: [everythingPath, 'stdio'] };
const servers = { all: everything };
let stage: AssistantStage;

afterEach(() => stage.close());

/** What the model was offered. */
function offered(request = 0): string[] {
  const tools = stage.model.requests[request]?.body.tools;
  return Array.isArray(tools) ? tools.map((tool) => Object(Object(tool).function).name) : [];
}

/** What the model was told about its calls. */
function told(request: number): unknown[] {
  const messages = stage.model.requests[request]?.body.messages;
  return Array.isArray(messages)
    ? messages.flatMap((one) => (Object(one).role === 'tool' ? [Object(one).content] : []))
    : [];
}

describe('tools of MCP servers', () => {
  test('are offered, called side by side, and shown; the model hears their results in the order of its calls', async () => {
    const made = [
      { tool: 'all__echo', arguments: { message: 'hi' } },
      { tool: 'all__get-sum', arguments: { a: 2, b: 40 } },
    ];
    stage = await openAssistantStage([[{ text: 'Let me see. ' }, ...made], 'It is 42.'], { servers });
    const events = await stage.afterTurns(await stage.begin('Add them'), 1);
    expect(offered()).toContain('all__echo');
    expect(told(1)).toEqual(['Echo: hi', expect.stringContaining('42')]);
    expect(saidIn(events)).toBe('Let me see. It is 42.');
    const work = events.filter(({ type, callId }) => callId !== 'turn-1' && String(type).startsWith('function'));
    const calls = work.slice(0, 2);
    expect(calls).toMatchObject([
      { type: 'functionCall', name: 'all.echo', args: { message: 'hi' } },
      { type: 'functionCall', name: 'all.get-sum' },
    ]);
    const results = work.slice(2);
    expect(results.map(({ type, outcome }) => [type, outcome])).toEqual(Array(2).fill(['functionResult', 'ok']));
    const echoed = results.find(({ callId }) => callId === calls[0]?.callId);
    expect(echoed).toMatchObject({ content: { parts: [{ functionResponse: { response: { result: 'Echo: hi' } } }] } });
  });

  test('may change while it runs: the model is offered what there is now', async () => {
    const growing = { ...everything, args: [join(import.meta.dirname, 'agents/growing-server.mjs')] };
    const script = [[{ tool: 'own__unlock', arguments: {} }], [{ tool: 'own__hidden', arguments: {} }], 'There it is.'];
    stage = await openAssistantStage(script, { servers: { own: growing } });
    await stage.afterTurns(await stage.begin('Look'), 1);
    expect([offered(0), offered(1)]).toEqual([['own__unlock'], ['own__unlock', 'own__hidden']]);
    expect(told(2)).toEqual(['unlocked', 'found']);
  });

  test('that fail, do not exist or get no object tell the model, and the turn goes on', async () => {
    const made = [
      { tool: 'all__echo', arguments: {} },
      { tool: 'all__ekho', arguments: {} },
      { tool: 'all__echo', arguments: ['hi'] },
    ];
    stage = await openAssistantStage([made, 'Sorry.'], { servers });
    const events = await stage.afterTurns(await stage.begin('Try'), 1);
    expect(told(1)).toMatchObject([
      expect.stringContaining('echo'),
      expect.stringContaining('there is no function'),
      'the arguments are not an object',
    ]);
    const errors = events.filter(({ type }) => type === 'subagentError');
    expect(errors).toHaveLength(3);
    expect(saidIn(events)).toBe('Sorry.');
  });

  test('say how far they are', async () => {
    const slow = { tool: 'all__trigger-long-running-operation', arguments: { duration: 0.2, steps: 2 } };
    stage = await openAssistantStage([[slow], 'Done.'], { servers });
    const events = await stage.afterTurns(await stage.begin('Work'), 1);
    const updates = events.filter(({ type }) => type === 'functionCallUpdate');
    expect(updates.map(({ status }) => status)).toContain('1 of 2');
    expect(updates[0]?.callId).toBe(events.findLast(({ type }) => type === 'functionCall')?.callId);
  });

  test('are those that neither the assistant nor the session forbids', async () => {
    stage = await openAssistantStage(['Hello.'], {
      servers,
      functions: ['ask_user', 'current_time'],
      deny: ['all.get-env', 'current_time'],
    });
    const tools = {
      servers: {
        mine: { command: process.execPath, args: [everythingPath, 'stdio'], tools: { echo: { enabled: false } } },
      },
      allow: ['all.*', 'mine.echo', 'mine.get-sum', 'ask_user', 'current_time'],
      deny: ['all.get-tiny-image'],
    };
    await stage.afterTurns(await stage.begin('Hi', { tools }), 1);
    const names = offered();
    expect(names).toEqual(expect.arrayContaining(['ask_user', 'all__echo', 'mine__get-sum']));
    for (const name of ['all__get-env', 'all__get-tiny-image', 'current_time', 'mine__echo', 'mine__get-env']) {
      expect(names).not.toContain(name);
    }
  });

  test('get secrets by reference and literal text as it stands', async () => {
    const call = { tool: 'mine__get-env', arguments: {} };
    stage = await openAssistantStage([[call], 'Done.'], {
      environment: { DEEP: 'secret-value', PATH: process.env.PATH },
    });
    const env = { A_TOKEN: { env: 'DEEP' }, PLAIN: '${DEEP}' };
    const tools = { servers: { mine: { command: process.execPath, args: [everythingPath, 'stdio'], env } } };
    await stage.afterTurns(await stage.begin('Env?', { tools }), 1);
    const [seen] = told(1);
    expect(JSON.parse(String(seen))).toMatchObject({ A_TOKEN: 'secret-value', PLAIN: '${DEEP}' });
  });
});

describe('a call that needs leave', () => {
  const ask = ['all.echo'];
  const script = () =>
    stage.model.requests.length === 1 ? [{ tool: 'all__echo', arguments: { message: 'hi' } }] : 'Well.';

  test('runs when the user says yes', async () => {
    stage = await openAssistantStage(script, { servers, ask });
    const id = await stage.begin('Echo');
    const asked = await stage.until(id, ({ type }) => type === 'queryConsent');
    expect(asked).toMatchObject({
      consentType: 'approval',
      scope: { description: 'Call all.echo with {"message":"hi"}', tool: 'all.echo', args: { message: 'hi' } },
    });
    await stage.reached(id, 'waitingForApproval');
    await stage.answer(id, true);
    await stage.afterTurns(id, 1);
    expect(told(1)).toEqual(['Echo: hi']);
  });

  test.each([
    [false, 'the user did not allow this call'],
    ['not now', 'the user did not allow this call: not now'],
  ])('is refused with %j, which the model hears', async (answer, heard) => {
    stage = await openAssistantStage(script, { servers });
    const setting = {
      command: process.execPath,
      args: [everythingPath, 'stdio'],
      tools: { echo: { approval: 'ask' } },
    };
    const id = await stage.begin('Echo', { tools: { servers: { all: setting } } });
    await stage.reached(id, 'waitingForApproval');
    await stage.answer(id, answer);
    await stage.afterTurns(id, 1);
    expect(told(1)).toEqual([heard]);
  });
});

describe('our own functions', () => {
  test('ask the user, in words or with options', async () => {
    const ask = (given: object) => [{ tool: 'ask_user', arguments: { ...given } }];
    const options = ['red', 'green', 'blue'];
    const script = [
      ask({ question: 'Your name?' }),
      ask({ question: 'Which?', options }),
      ask({ question: 'Which ones?', options, multiple: true }),
      'Thanks.',
    ];
    stage = await openAssistantStage(script, { functions: ['ask_user'] });
    const id = await stage.begin('Ask me');
    await stage.until(id, ({ type }) => type === 'waitForInput');
    await stage.answer(id, { input: { parts: [{ text: 'Ada' }] } });
    const one = await stage.until(id, ({ type }) => type === 'waitForChoice');
    expect(one).toMatchObject({
      selectionMode: 'single',
      choices: [{ content: { parts: [{ text: 'red' }] } }, {}, {}],
    });
    await stage.answer(id, { selected: ['option-2'] });
    await stage.until(id, ({ type, selectionMode }) => type === 'waitForChoice' && selectionMode === 'multiple');
    await stage.answer(id, { selected: ['option-1', 'option-3'] });
    await stage.afterTurns(id, 1);
    expect(told(3)).toEqual(['Ada', 'green', '["red","blue"]']);
  });

  test('a model is told what a change of a graph is made of', async () => {
    stage = await openAssistantStage(['Done.'], { functions: ['apply_edits'] });
    await stage.afterTurns(await stage.begin('Edit'), 1);
    const offered = JSON.stringify(stage.model.requests[0]?.body.tools);
    for (const words of [
      'addnode {node}',
      'changeedge {from, to}',
      'changegraphmetadata {title?, description?, metadata?}',
      'A node is {id, type, configuration?, metadata?}',
      'updateNode {graphId?, nodeId, configuration?, metadata?, portsToAutowire?}',
    ])
      expect(offered).toContain(words);
  });

  test('read and change the graph of a client', async () => {
    const edits = [{ type: 'addnode' }];
    const script = [
      [{ tool: 'read_graph', arguments: {} }],
      [{ tool: 'inspect_node', arguments: { node_id: 'n' } }],
      [{ tool: 'apply_edits', arguments: { label: 'Add', edits } }],
      [{ tool: 'apply_edits', arguments: { label: 'Both', edits, transform: { kind: 'layoutGraph' } } }],
      [{ tool: 'apply_edits', arguments: { label: 'Tidy', transform: { kind: 'layoutGraph' } } }],
      [{ tool: 'edit_graph', arguments: { label: 'Show', edits } }],
      'Done.',
    ];
    const functions = ['read_graph', 'inspect_node', 'apply_edits', 'edit_graph'] as const;
    stage = await openAssistantStage(script, { functions });
    const id = await stage.begin('Edit');
    await stage.until(id, ({ type }) => type === 'readGraph');
    await stage.answer(id, { graph: { nodes: [], edges: [] } });
    expect(await stage.until(id, ({ type }) => type === 'inspectNode')).toMatchObject({ nodeId: 'n' });
    await stage.answer(id, { $error: 'there is no such node' });
    expect(await stage.until(id, ({ type }) => type === 'applyEdits')).toMatchObject({ label: 'Add', edits });
    await stage.answer(id, { success: true });
    const transforms = await stage.until(id, ({ type, label }) => type === 'applyEdits' && label === 'Tidy');
    expect(transforms).toMatchObject({ transform: { kind: 'layoutGraph' } });
    expect(transforms).not.toHaveProperty('edits');
    await stage.answer(id, { success: true });
    const events = await stage.afterTurns(id, 1);
    expect(events.find(({ type }) => type === 'graphEdit')).toMatchObject({ label: 'Show', edits });
    expect(told(6)).toEqual([
      '{"graph":{"nodes":[],"edges":[]}}',
      'there is no such node',
      '{"success":true}',
      'the arguments do not fit: give `edits` or `transform`, and not both',
      '{"success":true}',
      '{"ok":true}',
    ]);
  });
});

test('a server that cannot be started refuses the start, by name, and leaves nothing behind', async () => {
  const broken = { transport: 'stdio', command: join(import.meta.dirname, 'no-such-server') };
  stage = await openAssistantStage(['Never said.'], { servers: { all: everything, broken } });
  const id = await stage.begin('Hello');
  const held = await stage.until(id, ({ type, status }) => type === 'status' && status === 'interrupted');
  expect(held.reason).toContain('MCP server "broken"');
  await expect.poll(() => stage.sessions.pool()).toMatchObject({ active: 0 });
  const notes = await stage.log.listDocuments({ collection: 'processes', limit: 10 });
  expect(notes.documents).toEqual([]);
  expect(stage.model.requests).toEqual([]);
});

test('a tool is known by the spellings of others, and by its own name where no other has it', async () => {
  const calls = ['mcp__all__echo', 'all/echo', 'echo'].map((tool) => ({ tool, arguments: { message: tool } }));
  stage = await openAssistantStage([calls, 'Done.'], { servers });
  const events = await stage.afterTurns(await stage.begin('Echo'), 1);
  expect(told(1)).toEqual(['Echo: mcp__all__echo', 'Echo: all/echo', 'Echo: echo']);
  const names = events.flatMap(({ type, callId, name }) =>
    type === 'functionCall' && callId !== 'turn-1' ? [name] : [],
  );
  expect(names).toEqual(['all.echo', 'all.echo', 'all.echo']);
});
