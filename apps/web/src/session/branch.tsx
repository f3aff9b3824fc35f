import type { SessionSettings } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Icon } from '../shell/icon.tsx';

/** Where a session works, where that is its own: the branch of its checkout, or the last part of its folder. */
export function Branch({ settings }: { readonly settings: SessionSettings | undefined }): ReactNode {
  const { worktree, workingDir } = settings ?? {};
  if (worktree !== undefined) {
    return (
      <span className="branch" title={worktree.path}>
        <Icon name="branch" />
        {worktree.branch}
        {worktree.state !== 'made' && ` (${worktree.state})`}
      </span>
    );
  }
  if (workingDir === undefined) return null;
  return (
    <span className="branch" title={workingDir}>
      {workingDir.split(/[\\/]/).at(-1)}/
    </span>
  );
}
