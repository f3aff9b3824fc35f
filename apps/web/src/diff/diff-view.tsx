import { type FileChange, filesOfChange } from '@concerto/protocol';
import { type ReactNode, useContext, useMemo, useState } from 'react';
import { pathFrom, ShownSessionContext } from '../session/shown-session.ts';
import { Icon } from '../shell/icon.tsx';
import { CodeBlock } from '../text/code-block.tsx';
import { CopyButton } from '../text/copy-button.tsx';
import { Plain } from '../text/plain.tsx';
import { toggleDiffMode, useDiffMode } from './diff-mode.ts';
import { DiffTable } from './diff-table.tsx';
import { parseChange } from './parse-change.ts';

type Props = { readonly changes: readonly FileChange[] };

/** More lines than this are laid out only when somebody asks for them. */
const shownLinesMax = 400;

/** What is to be changed, or was: file by file. */
export function DiffView({ changes }: Props): ReactNode {
  const mode = useDiffMode();
  const files = useMemo(() => changes.flatMap(filesOfChange), [changes]);
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <div className="diff" data-mode={mode}>
      <p className="diff-head">
        <span>
          {files.length === 1 ? '1 file' : `${files.length} files`} <Counts added={added} removed={removed} />
        </span>
        <button
          type="button"
          className="link-button diff-mode"
          aria-pressed={mode === 'split'}
          title="Unified or side by side (v)"
          onClick={toggleDiffMode}
        >
          Side by side
        </button>
      </p>
      {files.map((file, index) => (
        <FileDiff key={`${index}-${file.path}`} change={file} isAlone={files.length <= 3} />
      ))}
    </div>
  );
}

type FileProps = { readonly change: FileChange; readonly isAlone: boolean };

function FileDiff({ change, isAlone }: FileProps): ReactNode {
  const { path, kind, movedTo, patch, added, removed } = change;
  const { folder } = useContext(ShownSessionContext);
  const [isOpen, setOpen] = useState(isAlone || added + removed <= shownLinesMax / 4);
  return (
    <div className="diff-file" data-open={isOpen}>
      <div className="diff-file-head">
        <button type="button" className="diff-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span className="diff-path" title={path}>
            <Plain text={pathFrom(folder, path)} />
            {movedTo !== undefined && (
              <>
                {' '}
                → <Plain text={pathFrom(folder, movedTo)} />
              </>
            )}
          </span>
          {kind !== 'edit' && (
            <span className="diff-kind" data-kind={kind}>
              {kinds[kind]}
            </span>
          )}
          <Counts added={added} removed={removed} />
        </button>
        <CopyButton text={() => patch} label={`Copy the patch of ${path}`} />
      </div>
      {isOpen && <Body change={change} />}
    </div>
  );
}

const kinds: Readonly<Record<FileChange['kind'], string>> = {
  create: 'new',
  edit: 'changed',
  delete: 'deleted',
  move: 'moved',
};

function Body({ change: { patch, kind } }: { readonly change: FileChange }): ReactNode {
  const parsed = useMemo(() => parseChange(patch), [patch]);
  const [isWhole, setWhole] = useState(false);
  const mode = useDiffMode();
  switch (parsed.kind) {
    case 'binary':
      return <Note text="A binary file: its contents cannot be compared as text." />;
    case 'empty':
      return <Note text={kind === 'move' ? 'Moved as it is.' : 'No text of the change was given.'} />;
    case 'unreadable':
      return <CodeBlock code={patch} language="diff" />;
    case 'text': {
      const isLong = parsed.lineCount > shownLinesMax && !isWhole;
      return (
        <>
          <DiffTable hunks={parsed.hunks} mode={mode} linesMax={isLong ? shownLinesMax : undefined} />
          {isLong && (
            <button type="button" className="link-button terminal-more" onClick={() => setWhole(true)}>
              Show all {parsed.lineCount.toLocaleString()} lines
            </button>
          )}
        </>
      );
    }
  }
}

function Note({ text }: { readonly text: string }): ReactNode {
  return (
    <p className="diff-note">
      <Icon name="file" />
      {text}
    </p>
  );
}

export function Counts({ added, removed }: { readonly added: number; readonly removed: number }): ReactNode {
  return (
    <span className="diff-counts">
      {added > 0 && <span data-sign="plus">+{added.toLocaleString()}</span>}
      {removed > 0 && <span data-sign="minus">−{removed.toLocaleString()}</span>}
    </span>
  );
}
