import { Fragment, memo, type ReactNode } from 'react';
import { Plain } from '../text/plain.tsx';
import type { DiffMode } from './diff-mode.ts';
import { type DiffHunk, type DiffLine, pairsOf } from './parse-change.ts';

type Props = { readonly hunks: readonly DiffHunk[]; readonly mode: DiffMode; readonly linesMax: number | undefined };

const signs: Readonly<Record<DiffLine['kind'], string>> = { added: '+', removed: '−', context: ' ' };
const words: Readonly<Record<DiffLine['kind'], string>> = { added: 'added', removed: 'removed', context: 'unchanged' };

/** Lines under each other, or what was on the left and what is on the right. */
export const DiffTable = memo(function DiffTable({ hunks, mode, linesMax }: Props): ReactNode {
  const shown = limited(hunks, linesMax);
  return (
    <table className="diff-table" data-mode={mode}>
      <colgroup>
        <col className="diff-number" />
        <col className={mode === 'split' ? undefined : 'diff-number'} />
        <col className={mode === 'split' ? 'diff-number' : 'diff-sign'} />
        <col />
      </colgroup>
      <tbody>
        {shown.map((hunk, index) => (
          <Fragment key={`${index}-${hunk.title}`}>
            <tr className="diff-hunk">
              <td colSpan={4}>{hunk.title}</td>
            </tr>
            {mode === 'unified' ? <Unified lines={hunk.lines} /> : <Split lines={hunk.lines} />}
          </Fragment>
        ))}
      </tbody>
    </table>
  );
});

function Unified({ lines }: { readonly lines: readonly DiffLine[] }): ReactNode {
  return lines.map((line, index) => (
    <tr key={`${index}-${line.kind}`} data-kind={line.kind}>
      <td className="diff-number">{line.before}</td>
      <td className="diff-number">{line.after}</td>
      <td className="diff-sign">
        <span aria-hidden="true">{signs[line.kind]}</span>
        <span className="visually-hidden">{words[line.kind]}</span>
      </td>
      <Text line={line} />
    </tr>
  ));
}

function Split({ lines }: { readonly lines: readonly DiffLine[] }): ReactNode {
  return pairsOf(lines).map(({ left, right }, index) => (
    <tr key={`${index}-pair`}>
      <td className="diff-number" data-kind={left?.kind}>
        {left?.before}
      </td>
      <Text line={left} />
      <td className="diff-number" data-kind={right?.kind}>
        {right?.after}
      </td>
      <Text line={right} />
    </tr>
  ));
}

function Text({ line }: { readonly line: DiffLine | undefined }): ReactNode {
  if (line === undefined) return <td className="diff-text" data-kind="absent" aria-label="nothing" />;
  return (
    <td className="diff-text" data-kind={line.kind}>
      {line.pieces.map(({ text, isChanged }, index) =>
        isChanged ? (
          <span key={`${index}-w`} className="diff-word">
            <Plain text={text} />
          </span>
        ) : (
          <Plain key={`${index}-t`} text={text} />
        ),
      )}
    </td>
  );
}

function limited(hunks: readonly DiffHunk[], linesMax: number | undefined): readonly DiffHunk[] {
  if (linesMax === undefined) return hunks;
  let left = linesMax;
  return hunks.flatMap((hunk) => {
    if (left <= 0) return [];
    const lines = hunk.lines.slice(0, left);
    left -= lines.length;
    return [{ ...hunk, lines }];
  });
}
