import { type ReactNode, useMemo, useState } from 'react';
import { Icon } from '../shell/icon.tsx';
import { CopyButton } from '../text/copy-button.tsx';
import { parseTerminal, type TerminalLine, terminalText } from './parse-terminal.ts';
import { TerminalLines } from './terminal-lines.tsx';

type Props = {
  readonly text: string;
  readonly label?: string;
  /** More is still to come: the end is what one looks at. */
  readonly isLive?: boolean;
};

const headLines = 8;
const tailLines = 16;
/** Beyond this many lines at once the page would be slow to lay out; the search still looks through all. */
const shownMax = 5000;

/** What a tool printed: its first and its last lines, all of it on demand, a search, and the text to take along. */
export function TerminalView({ text, label = 'Output', isLive = false }: Props): ReactNode {
  const lines = useMemo(() => trimmed(parseTerminal(text)), [text]);
  const [isWhole, setWhole] = useState(false);
  const [sought, setSought] = useState<string>();
  const isLong = lines.length > headLines + tailLines + 4;
  if (lines.length === 0 && !isLive) return null;
  return (
    <figure className="terminal" aria-label={label}>
      <figcaption className="code-head">
        <span>
          {label}
          {isLong && ` · ${lines.length.toLocaleString()} lines`}
          {isLive && <span className="terminal-live"> · running</span>}
        </span>
        <span className="code-tools">
          {isLong && (
            <button
              type="button"
              className="icon-button copy-button"
              aria-label="Search the output"
              aria-expanded={sought !== undefined}
              title="Search the output"
              onClick={() => setSought(sought === undefined ? '' : undefined)}
            >
              <Icon name="search" />
            </button>
          )}
          <CopyButton text={() => terminalText(lines)} label={`Copy the ${label.toLowerCase()}`} />
        </span>
      </figcaption>
      {sought !== undefined && <SearchField value={sought} lines={lines} onChange={setSought} />}
      {sought !== undefined && sought !== '' ? (
        <TerminalLines lines={found(lines, sought)} sought={sought} isNumbered />
      ) : (
        <Body lines={lines} isWhole={isWhole || !isLong} isLive={isLive} onWhole={() => setWhole(true)} />
      )}
      {isWhole && isLong && sought === undefined && (
        <button type="button" className="link-button terminal-more" onClick={() => setWhole(false)}>
          Show less
        </button>
      )}
    </figure>
  );
}

type BodyProps = {
  readonly lines: readonly TerminalLine[];
  readonly isWhole: boolean;
  readonly isLive: boolean;
  readonly onWhole: () => void;
};

function Body({ lines, isWhole, isLive, onWhole }: BodyProps): ReactNode {
  if (isWhole) return <TerminalLines lines={numbered(lines, Math.max(0, lines.length - shownMax))} />;
  const head = isLive ? 0 : headLines;
  const hidden = lines.length - head - tailLines;
  return (
    <>
      {head > 0 && <TerminalLines lines={numbered(lines.slice(0, head), 0)} />}
      <button type="button" className="link-button terminal-more" onClick={onWhole}>
        {hidden.toLocaleString()} {isLive ? 'earlier lines' : 'lines between'}: show all
      </button>
      <TerminalLines lines={numbered(lines, lines.length - tailLines)} />
    </>
  );
}

type SearchProps = {
  readonly value: string;
  readonly lines: readonly TerminalLine[];
  readonly onChange: (sought: string | undefined) => void;
};

function SearchField({ value, lines, onChange }: SearchProps): ReactNode {
  return (
    <p className="terminal-search">
      <input
        ref={(field) => field?.focus()}
        type="search"
        aria-label="Search in the output"
        placeholder="Search …"
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && onChange(undefined)}
      />
      {value !== '' && <output className="muted">{countText(found(lines, value).length)}</output>}
    </p>
  );
}

export type NumberedLine = { readonly number: number; readonly runs: TerminalLine };

function numbered(lines: readonly TerminalLine[], from: number): readonly NumberedLine[] {
  return lines.slice(from).map((runs, index) => ({ number: from + index + 1, runs }));
}

function found(lines: readonly TerminalLine[], sought: string): readonly NumberedLine[] {
  const wanted = sought.toLowerCase();
  return numbered(lines, 0)
    .filter(({ runs }) => terminalText([runs]).toLowerCase().includes(wanted))
    .slice(0, shownMax);
}

function countText(count: number): string {
  return count === 1 ? '1 line found' : `${count.toLocaleString()} lines found`;
}

/** Without the empty line after the last line end. */
function trimmed(lines: readonly TerminalLine[]): readonly TerminalLine[] {
  const last = lines.findLastIndex((runs) => runs.some(({ text }) => text.trim() !== ''));
  return lines.slice(0, last + 1);
}
