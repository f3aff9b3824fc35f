import { type CSSProperties, memo, type ReactNode } from 'react';
import { Plain } from '../text/plain.tsx';
import type { TerminalRun, TerminalStyle } from './parse-terminal.ts';
import type { NumberedLine } from './terminal-view.tsx';

type Props = { readonly lines: readonly NumberedLine[]; readonly sought?: string; readonly isNumbered?: boolean };

export function TerminalLines({ lines, sought, isNumbered = false }: Props): ReactNode {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls is reached by keyboard
    <pre className="terminal-lines" tabIndex={0}>
      {lines.map(({ number, runs }) => (
        <span key={number} className="terminal-line">
          {isNumbered && <span className="terminal-number">{number}</span>}
          {runs.map((run, index) => (
            <Run key={`${index}-${run.text.length}`} run={run} sought={sought} />
          ))}
          {'\n'}
        </span>
      ))}
    </pre>
  );
}

type RunProps = { readonly run: TerminalRun; readonly sought: string | undefined };

const Run = memo(function Run({ run: { text, style }, sought }: RunProps): ReactNode {
  const body = sought === undefined ? <Plain text={text} /> : <Marked text={text} sought={sought} />;
  if (Object.keys(style).length === 0) return body;
  return (
    <span data-dim={style.isDim} style={cssOf(style)}>
      {body}
    </span>
  );
});

function Marked({ text, sought }: { readonly text: string; readonly sought: string }): ReactNode {
  const at = text.toLowerCase().indexOf(sought.toLowerCase());
  if (at === -1) return <Plain text={text} />;
  return (
    <>
      <Plain text={text.slice(0, at)} />
      <mark>{text.slice(at, at + sought.length)}</mark>
      <Marked text={text.slice(at + sought.length)} sought={sought} />
    </>
  );
}

function cssOf(style: TerminalStyle): CSSProperties {
  const front = colorOf(style.color);
  const back = colorOf(style.background);
  return {
    color: style.isInverse === true ? (back ?? 'var(--sunken)') : front,
    backgroundColor: style.isInverse === true ? (front ?? 'var(--text)') : back,
    fontWeight: style.isBold === true ? 650 : undefined,
    fontStyle: style.isItalic === true ? 'italic' : undefined,
    textDecoration: style.isUnderlined === true ? 'underline' : undefined,
  };
}

function colorOf(color: number | string | undefined): string | undefined {
  return typeof color === 'number' ? `var(--ansi-${color})` : color;
}
