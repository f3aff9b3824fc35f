import { type ReactNode, useId } from 'react';
import { FaultText, StartField } from './start-field.tsx';
import type { Fault, StartFields } from './start-request.ts';
import type { Target } from './targets.ts';

type Props = {
  readonly target: Target;
  /** Where others worked of late. */
  readonly folders: readonly string[];
  readonly fields: StartFields;
  readonly fault: Fault | undefined;
  readonly onWrite: (name: string, value: string) => void;
};

/** Where it works, as far as its entry lets a session say so. */
export function FolderFields({ target: { worker }, folders, fields, fault, onWrite }: Props): ReactNode {
  const id = useId();
  const may = worker?.perSession ?? [];
  const isOwn = (fields.worktree ?? (worker?.worktree === true ? 'yes' : 'no')) === 'yes';
  const isWrong = fault?.field === 'worktree';
  return (
    <>
      {may.includes('working_dir') && (
        <StartField
          label="Folder"
          name="working_dir"
          value={fields.working_dir ?? ''}
          placeholder="The project's"
          suggestions={folders.map((folder) => ({ id: folder }))}
          fault={fault}
          onWrite={onWrite}
        />
      )}
      {may.includes('worktree') && (
        <div className="start-worktree">
          <label className="check">
            <input
              type="checkbox"
              checked={isOwn}
              {...(isWrong ? { 'aria-invalid': true, 'aria-describedby': id } : {})}
              onChange={(event) => onWrite('worktree', event.target.checked ? 'yes' : 'no')}
            />
            In a git worktree of its own
          </label>
          {isOwn && (
            <StartField
              label="Branch: concerto/"
              name="worktree_name"
              value={fields.worktree_name ?? ''}
              placeholder="the session's id"
              fault={undefined}
              onWrite={(name, value) => {
                onWrite('worktree', 'yes');
                onWrite(name, value);
              }}
            />
          )}
          {isWrong && <FaultText id={id} fault={fault} />}
        </div>
      )}
      {worker?.worktree === true && !may.includes('worktree') && (
        <p className="muted">It works in a git worktree of its own.</p>
      )}
    </>
  );
}
