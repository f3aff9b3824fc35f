import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { InspectorTab } from '../audit/inspector.tsx';
import { failureOf } from '../fetching/failure.ts';
import { replaceAddress, useLocation } from '../routing/use-location.ts';
import { post } from '../shell/notice-board.ts';
import { useShortcuts } from '../shell/use-shortcuts.ts';

// Loaded when somebody wants them: few do.
const Inspector = lazy(async () => ({ default: (await import('../audit/inspector.tsx')).Inspector }));

type Props = { readonly id: string; readonly title: string; readonly position: number };

/** Looks behind the page, and takes the session along. */
export function SessionTools({ id, title, position }: Props): ReactNode {
  const { path, query } = useLocation();
  const linked = Number(query.get('event') ?? 0);
  const [tab, setTab] = useState<InspectorTab | undefined>(linked > 0 ? 'events' : undefined);
  useShortcuts({ i: () => setTab('audit') });
  const take = async (form: 'markdown' | 'json'): Promise<void> => {
    try {
      const { exportSession } = await import('../export/export-session.ts');
      await exportSession(id, title, form);
    } catch (cause) {
      post('bad', failureOf(cause).text);
    }
  };
  return (
    <section className="panel session-tools" aria-label="Inspect and export">
      <button type="button" className="button small" title="Audit and events (i)" onClick={() => setTab('audit')}>
        Inspect
      </button>
      <button type="button" className="button small" onClick={() => void take('markdown')}>
        Export Markdown
      </button>
      <button type="button" className="button small" onClick={() => void take('json')}>
        Export JSON
      </button>
      {tab !== undefined && (
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
      )}
    </section>
  );
}
