import type { Session } from '@concerto/protocol';
import { lazy, type ReactNode, Suspense, useContext, useState } from 'react';
import type { InspectorTab } from '../audit/inspector.tsx';
import { failureOf } from '../fetching/failure.ts';
import { ConfirmButton } from '../keeping/confirm-button.tsx';
import { deleteSessions, putAway } from '../keeping/keep-sessions.ts';
import { useMay } from '../people/may.ts';
import { navigate, replaceAddress, useLocation } from '../routing/use-location.ts';
import { Boundary } from '../shell/boundary.tsx';
import { post } from '../shell/notice-board.ts';
import { useShortcuts } from '../shell/use-shortcuts.ts';
import { isOver } from './lifecycle-table.ts';
import { ShownSessionContext } from './shown-session.ts';

// Loaded when somebody wants them: few do.
const Inspector = lazy(async () => ({ default: (await import('../audit/inspector.tsx')).Inspector }));

type Props = {
  readonly id: string;
  readonly session: Session | undefined;
  readonly position: number;
  readonly onChanged: () => void;
};

/** Looks behind the page, takes the session along, puts it away. */
export function SessionTools({ id, session, position, onChanged }: Props): ReactNode {
  const { path, query } = useLocation();
  const linked = Number(query.get('event') ?? 0);
  const [tab, setTab] = useState<InspectorTab | undefined>(linked > 0 ? 'events' : undefined);
  useShortcuts({ i: () => setTab('audit') });
  const take = async (form: 'markdown' | 'json'): Promise<void> => {
    try {
      const { exportSessions } = await import('../export/export-session.ts');
      await exportSessions([{ id, title: session?.title ?? id }], form);
    } catch (cause) {
      post('bad', failureOf(cause).text);
    }
  };
  const { fork } = useContext(ShownSessionContext);
  const mayFork = useMay('agent');
  const mayKeep = useMay('member');
  return (
    <section className="panel session-tools" aria-label="Inspect, export and keep">
      <button type="button" className="button small" title="Audit and events (i)" onClick={() => setTab('audit')}>
        Inspect
      </button>
      <button type="button" className="button small" onClick={() => void take('markdown')}>
        Export Markdown
      </button>
      <button type="button" className="button small" onClick={() => void take('json')}>
        Export JSON
      </button>
      {mayFork && fork !== undefined && (
        <button
          type="button"
          className="button small"
          title="Begin another session with all that was said in this one"
          onClick={() => fork(Number.MAX_SAFE_INTEGER)}
        >
          Fork
        </button>
      )}
      {mayKeep && session !== undefined && session.parent === undefined && (
        <Keep session={session} onChanged={onChanged} />
      )}
      {tab !== undefined && (
        <Boundary fallback={() => <p className="inline-problem">It could not be loaded. Load the page again.</p>}>
          <Suspense>
            <Inspector
              sessionId={id}
              tab={tab}
              event={linked > 0 ? linked : undefined}
              position={position}
              onTab={setTab}
              onClose={() => {
                setTab(undefined);
                if (linked > 0) replaceAddress(path);
              }}
            />
          </Suspense>
        </Boundary>
      )}
    </section>
  );
}

/** What a program opened is kept and deleted with it. */
function Keep({ session, onChanged }: { readonly session: Session; readonly onChanged: () => void }): ReactNode {
  const isAway = session.archived === true;
  const away = async (): Promise<void> => {
    await putAway([session], !isAway);
    onChanged();
  };
  const remove = async (): Promise<void> => {
    if ((await deleteSessions([session])).length > 0) navigate('/');
  };
  return (
    <>
      <button type="button" className="button small" onClick={() => void away()}>
        {isAway ? 'Take out of the archive' : 'Archive'}
      </button>
      {isOver(session.status) && (
        <ConfirmButton
          label="Delete"
          question="Delete it for good?"
          title="With all that it holds and opened"
          onMeant={() => void remove()}
        />
      )}
    </>
  );
}
