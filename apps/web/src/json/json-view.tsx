import { type ReactNode, useState } from 'react';
import { lineOf } from './line-of.ts';

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
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls is reached by keyboard */}
      <pre className="json-body" tabIndex={0}>
        {isLong ? text.slice(0, shownCharactersMax) : text}
      </pre>
      {isLong && (
        <button type="button" className="link-button" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString()} characters
        </button>
      )}
    </>
  );
}
