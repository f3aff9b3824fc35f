import '../style/graph.css';
import type { GraphEdit } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { whoText } from '../requests/who-text.ts';
import { useLocation } from '../routing/use-location.ts';
import { useFeedOf } from '../session/use-session-feed.ts';
import { post } from '../shell/notice-board.ts';
import { usePageTitle } from '../shell/use-page-title.ts';
import { useShortcuts } from '../shell/use-shortcuts.ts';
import { applyEdits } from './apply-edits.ts';
import { applyTransform } from './apply-transform.ts';
import { GraphCanvas } from './graph-canvas.tsx';
import type { GraphHistory } from './graph-history.ts';
import { NodePanel, Written } from './node-panel.tsx';
import { ProgramPanel } from './program-panel.tsx';
import { graphStore, useGraph } from './project-graph.ts';
import { TalkPanel } from './talk-panel.tsx';
import { useGraphServing } from './use-graph-serving.ts';

const tabs = ['step', 'talk', 'program', 'history'] as const;
type Tab = (typeof tabs)[number];
const tabWords: Readonly<Record<Tab, string>> = { step: 'Step', talk: 'Talk', program: 'Program', history: 'History' };

/** A pipeline drawn as a graph: by hand, or by talking to somebody who edits it. */
export function GraphPage(): ReactNode {
  const { history, isLoaded, isSaved } = useGraph();
  const session = useLocation().query.get('session') ?? undefined;
  const [selected, setSelected] = useState<string>();
  const [tab, setTab] = useState<Tab>(session === undefined ? 'step' : 'talk');
  const { view } = useFeedOf(session);
  useGraphServing(session, view, isLoaded);
  const agents = useFetched((signal) => client.agents({ signal }), { key: 'agents' }).value?.agents ?? [];
  usePageTitle('Graph');
  useShortcuts({ z: graphStore.undo, y: graphStore.redo });
  const { graph } = history;
  const node = graph.nodes.find(({ id }) => id === selected);
  const pick = (id: string | undefined): void => {
    setSelected(id);
    if (id !== undefined) setTab('step');
  };
  return (
    <main className="graph-page" tabIndex={-1} aria-busy={!isLoaded}>
      <h1 className="visually-hidden">Graph</h1>
      <GraphBar history={history} isSaved={isSaved} onAdded={pick} />
      <div className="graph-columns">
        <GraphCanvas graph={graph} selected={selected} onSelect={pick} onEdit={edit} />
        <aside className="graph-side" aria-label="About the graph">
          <fieldset className="filter" aria-label="What to look at">
            {tabs.map((name) => (
              <button
                key={name}
                type="button"
                className="filter-button"
                aria-pressed={name === tab}
                onClick={() => setTab(name)}
              >
                {tabWords[name]}
              </button>
            ))}
          </fieldset>
          {tab === 'step' && node === undefined && (
            <p className="muted">Choose a step, or add one. Drag from one to the next to connect them.</p>
          )}
          {tab === 'step' && node !== undefined && (
            <NodePanel
              key={node.id}
              graph={graph}
              node={node}
              agents={agents.flatMap(({ kind, name }) => (kind === 'agent' ? [name] : []))}
              onEdit={edit}
            />
          )}
          {tab === 'talk' && (
            <TalkPanel session={session} view={view} workers={agents.filter(({ kind }) => kind !== 'program')} />
          )}
          {tab === 'program' && <ProgramPanel graph={graph} />}
          {tab === 'history' && <Steps history={history} />}
        </aside>
      </div>
    </main>
  );
}

/** A change by hand. */
function edit(label: string, edits: readonly GraphEdit[]): void {
  const changed = graphStore.change({ label, by: 'you', apply: (graph) => applyEdits(graph, edits) });
  if (!changed.ok) post('bad', `${label}: ${changed.error}.`);
}

type BarProps = {
  readonly history: GraphHistory;
  readonly isSaved: boolean;
  readonly onAdded: (id: string) => void;
};

function GraphBar({ history: { graph, done, undone }, isSaved, onAdded }: BarProps): ReactNode {
  const add = (): void => {
    const taken = new Set(graph.nodes.map(({ id }) => id));
    let count = graph.nodes.length + 1;
    while (taken.has(`step-${count}`)) count += 1;
    const id = `step-${count}`;
    edit(`Add step ${count}`, [
      { type: 'addnode', graphId: '', node: { id, type: 'agent', metadata: { title: `Step ${count}` } } },
    ]);
    onAdded(id);
  };
  const before = done.at(-1);
  const after = undone.at(-1);
  return (
    <div className="graph-bar" role="toolbar" aria-label="Graph">
      <Written
        key={graph.title ?? ''}
        label="Title"
        value={graph.title ?? ''}
        onWritten={(title) => edit(`Call it ${title}`, [{ type: 'changegraphmetadata', graphId: '', title }])}
      />
      <button type="button" className="button small" onClick={add}>
        Add a step
      </button>
      <button
        type="button"
        className="button small"
        disabled={graph.nodes.length === 0}
        onClick={() =>
          graphStore.change({
            label: 'Lay it out',
            by: 'you',
            apply: (now) => applyTransform(now, { kind: 'layoutGraph', graphId: '' }),
          })
        }
      >
        Lay out
      </button>
      <button
        type="button"
        className="button small"
        disabled={before === undefined}
        title={`${before?.label ?? ''} (z)`}
        onClick={graphStore.undo}
      >
        Undo
      </button>
      <button
        type="button"
        className="button small"
        disabled={after === undefined}
        title={`${after?.label ?? ''} (y)`}
        onClick={graphStore.redo}
      >
        Redo
      </button>
      <output className="muted">{isSaved ? '' : 'Saving …'}</output>
    </div>
  );
}

function Steps({ history: { done, undone } }: { readonly history: GraphHistory }): ReactNode {
  return (
    <section className="graph-fields" aria-label="History">
      {done.length + undone.length === 0 && <p className="muted">Nothing was changed since the page was opened.</p>}
      <ol className="graph-steps">
        {undone.map(({ label }, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- the same may be done twice
          <li key={`undone ${index}`} className="muted">
            <s>{label}</s>
          </li>
        ))}
        {done.toReversed().map(({ label, by }, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- the same may be done twice
          <li key={`done ${done.length - index}`}>
            {label} {by !== 'you' && by !== '' && <span className="muted">{byText(by)}</span>}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** A session is talked to; a person is somebody else, or this one in another tab. */
function byText(by: string): string {
  return by.startsWith('user:') ? `by ${whoText(by)}, elsewhere` : 'by talking';
}
