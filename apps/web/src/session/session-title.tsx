import type { Session } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useMay } from '../people/may.ts';
import { Icon } from '../shell/icon.tsx';
import { post } from '../shell/notice-board.ts';
import { useShortcuts } from '../shell/use-shortcuts.ts';

type Props = { readonly id: string; readonly session: Session | undefined; readonly onChanged: () => void };

/** What the session is called, and the way to call it something else. */
export function SessionTitle({ id, session, onChanged }: Props): ReactNode {
  const [draft, setDraft] = useState<string>();
  const canRename = useMay('member') && session !== undefined;
  const edit = (): void => setDraft(session?.title);
  useShortcuts({ e: canRename ? edit : undefined });
  const save = async (): Promise<void> => {
    const title = draft?.trim() ?? '';
    setDraft(undefined);
    if (title === '' || title === session?.title) return;
    try {
      await client.describe(id, { title });
      onChanged();
    } catch (cause) {
      post('bad', failureOf(cause).text);
    }
  };
  if (draft === undefined) {
    return (
      <div className="session-title-line">
        <h1 title={session?.title}>{session?.title ?? 'Session'}</h1>
        {canRename && (
          <button type="button" className="icon-button" aria-label="Rename" title="Rename (e)" onClick={edit}>
            <Icon name="edit" />
          </button>
        )}
      </div>
    );
  }
  return (
    <form
      className="session-title-line"
      aria-label="Rename the session"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h1 className="visually-hidden">{session?.title}</h1>
      <input
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- who asked to rename it writes next
        autoFocus
        aria-label="Title"
        maxLength={200}
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && setDraft(undefined)}
        onBlur={() => void save()}
      />
    </form>
  );
}
