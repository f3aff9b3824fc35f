import '@xyflow/react/dist/base.css';
import type { Graph, GraphEdge, GraphEdit } from '@concerto/protocol';
import {
  Background,
  type Connection,
  Controls,
  type Edge,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  useNodesState,
} from '@xyflow/react';
import { type ReactNode, useEffect } from 'react';
import { agentOf, kindOf, promptOf, titleOf } from './graph-program.ts';
import { placeOf, placesOf } from './layout.ts';

type NodeData = { readonly title: string; readonly kind: string; readonly prompt: string };
type CanvasNode = Node<NodeData, 'step'>;

type Props = {
  readonly graph: Graph;
  readonly selected: string | undefined;
  readonly onSelect: (id: string | undefined) => void;
  /** One change with its name. */
  readonly onEdit: (label: string, edits: readonly GraphEdit[]) => void;
};

const nodeTypes = { step: StepNode };

/** The graph as one draws it: moved, connected and removed by hand; every change goes to the document. */
export function GraphCanvas({ graph, selected, onSelect, onEdit }: Props): ReactNode {
  const [nodes, onNodesChange] = useCanvasNodes(graph, selected);
  const nameOf = (id: string): string => {
    const node = graph.nodes.find((one) => one.id === id);
    return node === undefined ? id : titleOf(node);
  };
  const connect = ({ source, target }: Connection): void =>
    onEdit(`Connect ${nameOf(source)} to ${nameOf(target)}`, [
      { type: 'addedge', graphId: '', edge: { from: source, to: target } },
    ]);
  const remove = (goneNodes: readonly CanvasNode[], goneEdges: readonly Edge[]): void => {
    const ids = new Set(goneNodes.map(({ id }) => id));
    const loose = goneEdges.filter(({ source, target }) => !ids.has(source) && !ids.has(target));
    const edits: GraphEdit[] = [
      ...goneNodes.map(({ id }) => ({ type: 'removenode' as const, graphId: '', id })),
      ...loose.flatMap(({ id }) => {
        const edge = graph.edges.find((one) => keyOf(one) === id);
        return edge === undefined ? [] : [{ type: 'removeedge' as const, graphId: '', edge }];
      }),
    ];
    const [first] = goneNodes;
    if (edits.length > 0) onEdit(first === undefined ? 'Remove a connection' : `Remove ${nameOf(first.id)}`, edits);
  };
  return (
    <div className="graph-canvas">
      <ReactFlow<CanvasNode>
        nodes={nodes}
        edges={graph.edges.map((edge) => ({ id: keyOf(edge), source: edge.from, target: edge.to }))}
        nodeTypes={nodeTypes}
        onNodesChange={onNodesChange}
        onNodeClick={(_event, { id }) => onSelect(id)}
        onPaneClick={() => onSelect(undefined)}
        onConnect={connect}
        onDelete={({ nodes: goneNodes, edges }) => remove(goneNodes, edges)}
        onNodeDragStop={(_event, { id, position: { x, y } }) =>
          onEdit(`Move ${nameOf(id)}`, [
            { type: 'changemetadata', graphId: '', id, metadata: { visual: { x: Math.round(x), y: Math.round(y) } } },
          ])
        }
        deleteKeyCode={['Delete', 'Backspace']}
        fitView
        fitViewOptions={{ maxZoom: 1 }}
        minZoom={0.2}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

/** As the document has them, with what the canvas knows of each. */
function useCanvasNodes(graph: Graph, selected: string | undefined) {
  const [nodes, setNodes, onNodesChange] = useNodesState<CanvasNode>([]);
  useEffect(() => {
    const usual = placesOf(graph);
    setNodes((before) =>
      graph.nodes.map(
        (node): CanvasNode => ({
          // What was measured of it stays: without that it would not be drawn at once.
          ...before.find(({ id }) => id === node.id),
          id: node.id,
          type: 'step',
          position: placeOf(node, usual.get(node.id)),
          selected: node.id === selected,
          ariaLabel: `${titleOf(node)}, ${kindOf(node)}`,
          data: {
            title: titleOf(node),
            kind: kindOf(node) === 'agent' ? agentOf(node) : kindOf(node),
            prompt: promptOf(node),
          },
        }),
      ),
    );
  }, [graph, selected, setNodes]);
  return [nodes, onNodesChange] as const;
}

function StepNode({ data: { title, kind, prompt } }: NodeProps<CanvasNode>): ReactNode {
  return (
    <div className="graph-node">
      <Handle type="target" position={Position.Left} />
      <strong>{title}</strong>
      <span className="graph-node-kind">{kind}</span>
      {prompt !== '' && <p>{prompt}</p>}
      <Handle type="source" position={Position.Right} />
    </div>
  );
}

function keyOf({ from, to, out = '', in: into = '' }: GraphEdge): string {
  return JSON.stringify([from, to, out, into]);
}
