import type { Graph, GraphNode } from '@concerto/protocol';
import { inOrder } from './layout.ts';

/** What a node can be: a step of an agent, a text put together from what leads to it, or what the run was given. */
export const nodeKinds = ['agent', 'text', 'input'] as const;
export type NodeKind = (typeof nodeKinds)[number];

/** The graph as a pipeline: a stage a node, each given what leads to it. */
export function graphProgram(graph: Graph): string {
  const nodes = inOrder(graph);
  const names = namesOf(nodes);
  const agents = [...new Set(nodes.flatMap((node) => (kindOf(node) === 'agent' ? [agentOf(node)] : [])))];
  const stages = nodes.map((node) => `    stage ${names.get(node.id)} = ${valueOf(graph, node, names)};`);
  const ends = nodes.filter(({ id }) => !graph.edges.some(({ from }) => from === id));
  const result = ends.map(({ id }) => `\${${names.get(id)}}`).join('\\n\\n');
  return [
    `/// ${oneLine(graph.title ?? 'A graph')}${graph.description === undefined ? '' : `: ${oneLine(graph.description)}`}`,
    ...agents.map((agent) => `agent ${agentName(agent)} { connector: ${agent} }`),
    '',
    'pipeline Graph(task: String) -> String {',
    ...(stages.length === 0 ? ['    stage result = task;'] : stages),
    ...(ends.length > 1 ? [`    stage result = "${result}";`] : []),
    '}',
    '',
    'fn main() -> Result<String, Error> {',
    '    let done = Graph.run(std::env::get("CONCERTO_PROMPT").unwrap_or(""))?;',
    '    Ok(done)',
    '}',
    '',
  ].join('\n');
}

/** What a node asks, and of whom. */
export function promptOf({ configuration }: GraphNode): string {
  const prompt = configuration?.prompt;
  return typeof prompt === 'string' ? prompt : '';
}

export function agentOf({ configuration }: GraphNode): string {
  const agent = configuration?.agent;
  return typeof agent === 'string' && agent !== '' ? agent.replaceAll(/\W/g, '_') : 'echo';
}

export function titleOf({ id, metadata }: GraphNode): string {
  const title = metadata?.title;
  return typeof title === 'string' && title !== '' ? title : id;
}

/** What other clients call otherwise is an agent's step, unless it has nobody to ask. */
export function kindOf({ type }: GraphNode): NodeKind {
  return nodeKinds.find((kind) => kind === type) ?? 'agent';
}

function valueOf(graph: Graph, node: GraphNode, names: ReadonlyMap<string, string>): string {
  if (kindOf(node) === 'input') return 'task';
  const before = graph.edges.filter(({ to }) => to === node.id).map(({ from }) => names.get(from));
  const given = before.length === 0 && kindOf(node) === 'agent' ? ['task'] : before;
  const said = [quoted(promptOf(node)), ...given.map((name) => `\${${name}}`)].filter((part) => part !== '');
  const text = `"${said.join('\\n\\n')}"`;
  return kindOf(node) === 'agent' ? `${agentName(agentOf(node))}.execute(${text})?` : text;
}

/** A name in the program for each node: its title's words, and a number where two have the same. */
function namesOf(nodes: readonly GraphNode[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set(['task', 'result']);
  for (const node of nodes) {
    const words = titleOf(node)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replaceAll(/^_+|_+$/g, '');
    const base = `${/^[a-z]/.test(words) ? words : `step_${words}`}`.replace(/_$/, '');
    let name = reserved.has(base) ? `${base}_step` : base;
    for (let count = 2; taken.has(name); count += 1) name = `${base}_${count}`;
    taken.add(name);
    names.set(node.id, name);
  }
  return names;
}

const reserved: ReadonlySet<string> = new Set(
  'agent as async await break const continue else emit enum false fn for hashmap if impl in ledger let listen loop match memory model module mut pipeline pub return schema self stage struct super test throw tool trait true try type use while'.split(
    ' ',
  ),
);

function agentName(connector: string): string {
  return connector
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
    .replace(/^(?=\d)/, 'A');
}

function quoted(text: string): string {
  return text
    .trim()
    .replaceAll(/[\\"$]/g, String.raw`\$&`)
    .replaceAll('\r', '')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t');
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
