import type { Session } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { failureOf } from '../fetching/failure.ts';
import { ConfirmButton } from '../keeping/confirm-button.tsx';
import { deleteSessions, each, endSessions, putAway, tell } from '../keeping/keep-sessions.ts';
import { startAgain } from '../keeping/start-again.ts';
import { useMay } from '../people/may.ts';
import { isOver } from '../session/lifecycle-table.ts';
import { post } from '../shell/notice-board.ts';

type Props = {
  readonly selected: readonly Session[];
  readonly listed: readonly Session[];
  readonly isArchive: boolean;
  readonly onAll: (sessions: readonly Session[]) => void;
  readonly onEnd: () => void;
};

/** What can be done to several at once; each says for how many of them. */
export function BulkBar({ selected, listed, isArchive, onAll, onEnd }: Props): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const mayStart = useMay('agent');
  const mayKeep = useMay('member');
  const over = selected.filter(({ status }) => isOver(status));
  const open = selected.filter(({ status }) => !isOver(status));
  const act = async (work: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    try {
      await work();
    } catch (cause) {
      post('bad', failureOf(cause).text);
    }
    setBusy(false);
    onEnd();
  };
  const isIdle = selected.length === 0 || isBusy;
  return (
    <div className="bulk-bar" role="toolbar" aria-label="Selected sessions">
      <strong aria-live="polite">{selected.length} selected</strong>
      <button type="button" className="button small" onClick={() => onAll(listed)}>
        All {listed.length}
      </button>
      <BulkButton
        label="Archive"
        isShown={mayKeep && !isArchive}
        isOff={isIdle}
        onPress={() => act(() => putAway(selected, true))}
      />
      <BulkButton
        label="Take out"
        isShown={mayKeep && isArchive}
        isOff={isIdle}
        onPress={() => act(() => putAway(selected, false))}
      />
      <BulkButton label="Run again" isShown={mayStart} isOff={isIdle} onPress={() => act(() => runAgain(selected))} />
      <BulkButton label="Export Markdown" isOff={isIdle} onPress={() => act(() => take(selected, 'markdown'))} />
      <BulkButton label="Export JSON" isOff={isIdle} onPress={() => act(() => take(selected, 'json'))} />
      {mayStart && open.length > 0 && (
        <ConfirmButton
          label={`End ${open.length}`}
          question={`End ${open.length} for good?`}
          title="Cancels those that are not over"
          disabled={isBusy}
          onMeant={() => void act(() => endSessions(open))}
        />
      )}
      {mayKeep && over.length > 0 && (
        <ConfirmButton
          label={`Delete ${over.length}`}
          question={`Delete ${over.length} for good?`}
          title="Those that are over, with all that they hold and opened"
          disabled={isBusy}
          onMeant={() => void act(() => deleteSessions(over))}
        />
      )}
      <button type="button" className="button small" onClick={onEnd}>
        Done
      </button>
    </div>
  );
}

type ButtonProps = {
  readonly label: string;
  readonly isShown?: boolean;
  readonly isOff: boolean;
  readonly onPress: () => Promise<void>;
};

function BulkButton({ label, isShown = true, isOff, onPress }: ButtonProps): ReactNode {
  if (!isShown) return null;
  return (
    <button type="button" className="button small" disabled={isOff} onClick={() => void onPress()}>
      {label}
    </button>
  );
}

async function take(sessions: readonly Session[], form: 'markdown' | 'json'): Promise<void> {
  const { exportSessions } = await import('../export/export-session.ts');
  await exportSessions(sessions, form);
}

async function runAgain(sessions: readonly Session[]): Promise<void> {
  const done = await each(sessions, async (session) => {
    if ((await startAgain(session)) === undefined) throw new Error('Nothing says any more what its task was.');
  });
  tell(done, 'started again');
}
