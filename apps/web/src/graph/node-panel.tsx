import type { JsonObject } from '@concerto/base';
import type { Graph, GraphEdit, GraphNode } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { Icon } from '../shell/icon.tsx';
import { kindOf, type NodeKind, nodeKinds, promptOf, titleOf } from './graph-program.ts';

type Props = {
  readonly graph: Graph;
  readonly node: GraphNode;
  /** Whom a step can ask. */
  readonly agents: readonly string[];
  readonly onEdit: (label: string, edits: readonly GraphEdit[]) => void;
};

const kindWords: Readonly<Record<NodeKind, string>> = {
  agent: 'An agent does it',
  text: 'A text, put together',
  input: 'What the run is given',
};

/** One step: what it is called, who does it, what is asked, and where it leads. */
export function NodePanel({ graph, node, agents, onEdit }: Props): ReactNode {
  const title = titleOf(node);
  const { id } = node;
  const configure = (what: string, configuration: JsonObject): void =>
    onEdit(`Change the ${what} of ${title}`, [{ type: 'changeconfiguration', graphId: '', id, configuration }]);
  const kind = kindOf(node);
  const agent = typeof node.configuration?.agent === 'string' ? node.configuration.agent : '';
  return (
    <section className="graph-fields" aria-label={`Step ${title}`}>
      <Written
        key={`title ${title}`}
        label="Title"
        value={title}
        onWritten={(text) =>
          onEdit(`Rename ${title} to ${text}`, [{ type: 'changemetadata', graphId: '', id, metadata: { title: text } }])
        }
      />
      <label className="field">
        <span className="field-label">What it is</span>
        <select
          value={kind}
          onChange={(event) =>
            onEdit(`Make ${title} a ${event.target.value}`, retyped(graph, node, event.target.value))
          }
        >
          {nodeKinds.map((one) => (
            <option key={one} value={one}>
              {kindWords[one]}
            </option>
          ))}
        </select>
      </label>
      {kind === 'agent' && (
        <label className="field">
          <span className="field-label">Agent</span>
          <select value={agent} onChange={(event) => configure('agent', { agent: event.target.value })}>
            {!agents.includes(agent) && (
              <option value={agent}>{agent === '' ? 'None yet' : `${agent} (not here)`}</option>
            )}
            {agents.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      {kind !== 'input' && (
        <Written
          key={`prompt ${promptOf(node)}`}
          label={kind === 'agent' ? 'What it is asked; what leads to it is added' : 'Text; what leads to it is added'}
          value={promptOf(node)}
          isLong
          onWritten={(prompt) => configure('prompt', { prompt })}
        />
      )}
      <Connections graph={graph} node={node} onEdit={onEdit} />
      <button
        type="button"
        className="button small danger-quiet"
        onClick={() => onEdit(`Remove ${title}`, [{ type: 'removenode', graphId: '', id }])}
      >
        Remove the step
      </button>
    </section>
  );
}

/** There is no edit that changes a type: it goes and comes again, with all that leads to and from it. */
function retyped({ edges }: Graph, node: GraphNode, type: string): readonly GraphEdit[] {
  const { id } = node;
  return [
    { type: 'removenode', graphId: '', id },
    { type: 'addnode', graphId: '', node: { ...node, type } },
    ...edges
      .filter(({ from, to }) => from === id || to === id)
      .map((edge) => ({ type: 'addedge' as const, graphId: '', edge })),
  ];
}

function Connections({ graph, node, onEdit }: Omit<Props, 'agents'>): ReactNode {
  const out = graph.edges.filter(({ from }) => from === node.id);
  const nameOf = (id: string): string => titleOf(graph.nodes.find((one) => one.id === id) ?? { id, type: '' });
  const free = graph.nodes.filter(({ id }) => id !== node.id && !out.some(({ to }) => to === id));
  return (
    <fieldset className="graph-connections">
      <legend className="field-label">Leads to</legend>
      <ul>
        {out.map((edge) => (
          <li key={edge.to}>
            {nameOf(edge.to)}
            <button
              type="button"
              className="icon-button"
              aria-label={`Do not lead to ${nameOf(edge.to)}`}
              onClick={() =>
                onEdit(`Disconnect ${titleOf(node)} from ${nameOf(edge.to)}`, [
                  { type: 'removeedge', graphId: '', edge },
                ])
              }
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      {free.length > 0 && (
        <select
          aria-label="Lead to"
          value=""
          onChange={({ target: { value: to } }) =>
            onEdit(`Connect ${titleOf(node)} to ${nameOf(to)}`, [
              { type: 'addedge', graphId: '', edge: { from: node.id, to } },
            ])
          }
        >
          <option value="">Lead to …</option>
          {free.map(({ id }) => (
            <option key={id} value={id}>
              {nameOf(id)}
            </option>
          ))}
        </select>
      )}
    </fieldset>
  );
}

type WrittenProps = {
  readonly label: string;
  readonly value: string;
  readonly isLong?: boolean;
  readonly onWritten: (text: string) => void;
};

/** A text that counts when one has finished writing it: one step, not one a letter. */
export function Written({ label, value, isLong = false, onWritten }: WrittenProps): ReactNode {
  const [text, setText] = useState(value);
  const common = {
    value: text,
    onBlur: () => {
      if (text.trim() !== value) onWritten(text.trim());
    },
  };
  return (
    <label className="field">
      <span className="field-label">{label}</span>
      {isLong ? (
        <textarea rows={5} {...common} onChange={(event) => setText(event.target.value)} />
      ) : (
        <input
          {...common}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
        />
      )}
    </label>
  );
}
