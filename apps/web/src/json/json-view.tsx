import { type ReactNode, useState } from 'react';

type Props = { readonly title: ReactNode; readonly data: unknown; readonly isOpen?: boolean };

/** More than this is not laid out before somebody asks for it. */
const shownCharactersMax = 20_000;

/** Something with structure, in one line until it is opened. */
export function JsonView({ title, data, isOpen = false }: Props): ReactNode {
  const [isExpanded, setExpanded] = useState(isOpen);
  return (
    <details className="json" open={isExpanded} onToggle={(event) => setExpanded(event.currentTarget.open)}>
      <summary>
        <span className="json-title">{title}</span>
        {!isExpanded && <code className="json-line">{lineOf(data)}</code>}
      </summary>
      {isExpanded && <Body data={data} />}
    </details>
  );
}

function Body({ data }: { readonly data: unknown }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const text = JSON.stringify(data, null, 2) ?? '';
  const isLong = text.length > shownCharactersMax && !isWhole;
  return (
    <>
      <pre className="json-body">{isLong ? text.slice(0, shownCharactersMax) : text}</pre>
      {isLong && (
        <button type="button" className="link-button" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString()} characters
        </button>
      )}
    </>
  );
}

/** The first scalars of an object, enough to recognise it by. */
export function lineOf(data: unknown): string {
  if (data === null || typeof data !== 'object') return String(data);
  if (Array.isArray(data)) return `${data.length} items`;
  return Object.entries(data)
    .slice(0, 6)
    .map(([key, value]) => `${key}: ${scalar(value)}`)
    .join('  ');
}

function scalar(value: unknown): string {
  if (Array.isArray(value)) return `[${value.length}]`;
  if (value !== null && typeof value === 'object') return '{…}';
  const text = String(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
