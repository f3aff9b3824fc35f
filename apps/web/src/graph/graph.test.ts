import { Graph, GraphEdit, GraphTransform } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { CheckedProgram } from '../programs/checked-program.ts';
import { applyEdits } from './apply-edits.ts';
import { applyTransform } from './apply-transform.ts';
import { emptyGraph, newHistory, redo, taken, undo } from './graph-history.ts';
import { graphProgram } from './graph-program.ts';
import { placeOf } from './layout.ts';

const graph: Graph = Graph.parse({
  title: 'Write',
  nodes: [
    {
      id: 'a',
      type: 'agent',
      configuration: { agent: 'echo', prompt: 'Outline "it" for $5\n{x}' },
      metadata: { title: 'Outline' },
    },
    { id: 'b', type: 'agent', configuration: { agent: 'my_coder' }, metadata: { title: '2nd: draft' } },
    { id: 'c', type: 'text', configuration: { prompt: 'All of it' }, metadata: { title: 'match' } },
  ],
  edges: [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'c' },
  ],
});
const after = (...edits: object[]) =>
  applyEdits(
    graph,
    edits.map((edit) => GraphEdit.parse(edit)),
  );
const ids = (outcome: ReturnType<typeof after>) =>
  outcome.ok ? outcome.value.nodes.map(({ id }) => id) : outcome.error;

test('nodes and edges are added, changed and removed, in the order of the edits', () => {
  const node = { id: 'd', type: 'text' };
  expect(ids(after({ type: 'addnode', node, graphId: null }, { type: 'removenode', id: 'a' }))).toEqual([
    'b',
    'c',
    'd',
  ]);
  const without = after({ type: 'removenode', id: 'b', graphId: '' });
  expect(without).toMatchObject({ ok: true, value: { edges: [] } });
  const edge = { from: 'a', to: 'c' };
  expect(after({ type: 'changeedge', from: { from: 'a', to: 'b' }, to: edge })).toMatchObject({
    value: { edges: [{ from: 'b', to: 'c' }, edge] },
  });
  expect(after({ type: 'changeconfiguration', id: 'b', configuration: { prompt: 'x' } })).toMatchObject({
    value: { nodes: [{}, { configuration: { agent: 'my_coder', prompt: 'x' } }, {}] },
  });
  expect(after({ type: 'changemetadata', id: 'b', metadata: { title: 'B' }, reset: true })).toMatchObject({
    value: { nodes: [{}, { metadata: { title: 'B' } }, {}] },
  });
  expect(after({ type: 'changegraphmetadata', title: 'Other' })).toMatchObject({ value: { title: 'Other' } });
});

test.each([
  [{ type: 'addnode', node: { id: 'a', type: 'text' } }, 'already'],
  [{ type: 'removenode', id: 'z' }, 'no node "z"'],
  [{ type: 'addedge', edge: { from: 'a', to: 'z' } }, 'no node "z"'],
  [{ type: 'addedge', edge: { from: 'a', to: 'b' } }, 'already'],
  [{ type: 'addedge', edge: { from: 'c', to: 'a' } }, 'circle'],
  [{ type: 'removeedge', edge: { from: 'a', to: 'c' } }, 'does not lead'],
  [{ type: 'changemetadata', id: 'z', metadata: {} }, 'no node "z"'],
  [{ type: 'addnode', graphId: 'sub', node: { id: 'a', type: 'text' } }, 'no graph "sub"'],
  [{ type: 'removeasset', path: 'x' }, 'no "x" in assets'],
])('%j is refused, and nothing of what came with it is done', (edit, why) => {
  const outcome = after({ type: 'addnode', node: { id: 'n', type: 'text' } }, edit);
  expect(outcome).toEqual({ ok: false, error: expect.stringContaining(why) });
});

test('graphs within it, exports, assets and integrations are kept too', () => {
  const sub = { nodes: [], edges: [] };
  const added = after(
    { type: 'addgraph', id: 'sub', graph: sub },
    { type: 'addnode', graphId: 'sub', node: { id: 'in', type: 'input' } },
    { type: 'toggleexport', id: 'sub' },
    { type: 'addasset', path: 'x', data: [1] },
    { type: 'changeassetmetadata', path: 'x', metadata: { title: 'X' } },
    { type: 'upsertintegration', id: 'i', integration: { on: true } },
  );
  expect(added).toMatchObject({
    value: {
      graphs: { sub: { nodes: [{ id: 'in' }] } },
      exports: ['sub'],
      assets: { x: { data: [1], metadata: { title: 'X' } } },
      integrations: { i: { on: true } },
    },
  });
  expect(after({ type: 'replacegraph', replacement: sub })).toEqual({ ok: true, value: sub });
});

test('transforms: a node is updated and wired, the graph is laid out', () => {
  const update = GraphTransform.parse({
    kind: 'updateNode',
    graphId: '',
    nodeId: 'c',
    configuration: { prompt: 'new' },
    metadata: null,
    portsToAutowire: [
      { path: 'a', title: 'A' },
      { path: 'b', title: 'B' },
      { path: 'nowhere', title: 'N' },
    ],
  });
  expect(applyTransform(graph, update)).toMatchObject({
    value: { nodes: [{}, {}, { configuration: { prompt: 'new' } }], edges: [{}, {}, { from: 'a', to: 'c' }] },
  });
  expect(applyTransform(graph, { ...update, nodeId: 'z' })).toMatchObject({ ok: false });
  const laid = applyTransform(graph, { kind: 'layoutGraph' });
  const xs = laid.ok ? laid.value.nodes.map((node) => placeOf(node).x) : [];
  expect(xs).toEqual([0, 270, 540]);
});

test('each change is one step that can be taken back and done again', () => {
  const step = taken(newHistory(emptyGraph), graph, 'Draft', 'user');
  expect(undo(step)).toMatchObject({ graph: emptyGraph, done: [], undone: [{ label: 'Draft' }] });
  expect(redo(undo(step))).toMatchObject({ graph, done: [{ label: 'Draft' }], undone: [] });
  expect(taken(undo(step), graph, 'Other', 'user').undone).toEqual([]);
});

const manifest = `[project]\nname = "g"\nversion = "0.1.0"\nentry = "main.conc"\n[agents.echo]\ncommand = "cat"\n[agents.my_coder]\ncommand = "cat"\n`;

test.each([
  ['the graph', graph],
  ['one without anything', emptyGraph],
  ['one with two ends', { ...graph, edges: [] }],
])('%s is a program that the checker has nothing against', (_name, of) => {
  const text = graphProgram(of);
  const source = {
    name: 'g',
    entry: 'main.conc',
    files: [],
    manifest: { path: 'Concerto.toml', text: manifest },
    mayWrite: true,
  };
  const { diagnostics } = new CheckedProgram(source as never, new Map([['main.conc', text]]));
  expect(diagnostics.map(({ message }) => message)).toEqual([]);
});

test('each stage is given what leads to it', () => {
  const text = graphProgram(graph);
  expect(text).toContain(String.raw`stage outline = Echo.execute("Outline \"it\" for \$5\n{x}\n\n${'${task}'}")?;`);
  expect(text).toContain('stage step_2nd_draft = MyCoder.execute("${outline}")?;');
  expect(text).toContain(String.raw`stage match_step = "All of it\n\n${'${step_2nd_draft}'}";`);
});
