import type { Diagnostic } from '@concerto/language';
import type { ReactNode } from 'react';
import { Icon } from '../shell/icon.tsx';
import type { Texts } from './checked-program.ts';
import type { Place } from './test-panel.tsx';

type Props = {
  readonly diagnostics: readonly Diagnostic[];
  readonly texts: Texts;
  readonly onOpen: (place: Place) => void;
};

/** What the checker says, in words, for whoever does not hover. */
export function Complaints({ diagnostics, texts, onOpen }: Props): ReactNode {
  if (diagnostics.length === 0) {
    return (
      <output className="complaints muted">
        <Icon name="check" /> Nothing is wrong.
      </output>
    );
  }
  return (
    <ul className="complaints" aria-label="What the checker says">
      {diagnostics.map(({ code, severity, message, help, file, span }) => {
        const line = lineAt(texts.get(file) ?? '', span.start);
        return (
          <li key={`${file} ${span.start} ${code} ${message}`} data-severity={severity}>
            <button type="button" className="link-button" onClick={() => onOpen({ file, line })}>
              {file}:{line}
            </button>{' '}
            <strong>{severity}</strong> {message} <span className="muted">{code}</span>
            {help !== undefined && <p className="muted">{help}</p>}
          </li>
        );
      })}
    </ul>
  );
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
