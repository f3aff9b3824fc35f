import type { ChangeWorktree, Session, Worktree } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { type Failure, failureOf } from '../fetching/failure.ts';
import { useMay } from '../people/may.ts';
import { Icon } from '../shell/icon.tsx';
import { post } from '../shell/notice-board.ts';

/** The branch that the session works on: merged or taken away from here, and nothing is lost unless somebody says so. */
export function WorktreePanel({ session }: { readonly session: Session }): ReactNode {
  const worktree = session.settings?.worktree;
  return worktree === undefined ? null : <Panel id={session.id} worktree={worktree} />;
}

function Panel({ id, worktree }: { readonly id: string; readonly worktree: Worktree }): ReactNode {
  const { branch, path, state, into } = worktree;
  const { isAsking, refused, ask } = useChangeWorktree(id);
  const mayChange = useMay('member');
  return (
    <section className="panel" aria-labelledby="worktree-title">
      <h2 id="worktree-title">Worktree</h2>
      <p className="branch" title={path}>
        <Icon name="branch" />
        {branch}
        {state === 'merged' && ` · merged into ${into}`}
        {state === 'removed' && ' · removed'}
      </p>
      {mayChange && state !== 'removed' && (
        <div className="worktree-form">
          <div className="worktree-buttons">
            <button
              type="button"
              className="button small"
              disabled={isAsking}
              title="Merge the branch into what the repository has checked out"
              onClick={() => void ask({ action: 'merge' })}
            >
              Merge
            </button>
            <button
              type="button"
              className="button small danger-quiet"
              disabled={isAsking}
              title="Take folder and branch away"
              onClick={() => void ask({ action: 'remove' })}
            >
              Remove
            </button>
          </div>
          {refused !== undefined && <WayOn refused={refused} isAsking={isAsking} onAsk={ask} />}
        </div>
      )}
    </section>
  );
}

type Refused = Failure & { readonly action: ChangeWorktree['action'] };
type Ask = (change: ChangeWorktree) => Promise<void>;

function useChangeWorktree(id: string) {
  const [isAsking, setAsking] = useState(false);
  const [refused, setRefused] = useState<Refused>();
  const ask: Ask = async (change) => {
    setAsking(true);
    setRefused(undefined);
    try {
      const { branch, state, into } = await client.changeWorktree(id, change);
      post('info', state === 'merged' ? `${branch} is merged into ${into}.` : `${branch} is removed.`);
    } catch (cause) {
      const { code, text } = failureOf(cause);
      // It begins with the name of the branch, which stays as it is.
      const isOfGit = cause instanceof Error && /^(worktree_|merge_)/.test(code);
      setRefused({ code, text: isOfGit ? cause.message : text, action: change.action });
    }
    setAsking(false);
  };
  return { isAsking, refused, ask };
}

/** What stands against it, and what one can say to that. */
function WayOn({
  refused,
  isAsking,
  onAsk,
}: {
  readonly refused: Refused;
  readonly isAsking: boolean;
  readonly onAsk: Ask;
}) {
  const [message, setMessage] = useState('');
  const { action, code, text } = refused;
  const canForce = action === 'remove' && (code === 'worktree_dirty' || code === 'worktree_unmerged');
  return (
    <>
      <p className="inline-problem" role="alert">
        {text}
      </p>
      {action === 'merge' && code === 'worktree_dirty' && (
        <form
          className="worktree-form"
          aria-label="Commit and merge"
          onSubmit={(event) => {
            event.preventDefault();
            void onAsk({ action, commit: message.trim() });
          }}
        >
          <label className="field">
            <span className="field-label">Commit message</span>
            <input value={message} required onChange={(event) => setMessage(event.target.value)} />
          </label>
          <button type="submit" className="button small" disabled={isAsking || message.trim() === ''}>
            Commit and merge
          </button>
        </form>
      )}
      {canForce && (
        <button
          type="button"
          className="button small danger-quiet"
          disabled={isAsking}
          onClick={() => void onAsk({ action, force: true })}
        >
          Remove it, and lose that
        </button>
      )}
    </>
  );
}
