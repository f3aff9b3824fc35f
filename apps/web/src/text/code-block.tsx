import { memo, type ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';
import { Plain } from './plain.tsx';
import { useHighlighted } from './use-highlighted.ts';

type Props = { readonly code: string; readonly language: string };

export const CodeBlock = memo(function CodeBlock({ code, language }: Props): ReactNode {
  return (
    <figure className="code-block" aria-label={language === '' ? 'Code' : `Code, ${language}`}>
      <figcaption className="code-head">
        <span>{language === '' ? 'text' : language}</span>
        <CopyButton text={() => code} label="Copy the code" />
      </figcaption>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls is reached by keyboard */}
      <pre className="code" tabIndex={0}>
        <code>
          <Code code={code} language={language} />
        </code>
      </pre>
    </figure>
  );
});

/** Code in its colours, without a frame. */
export function Code({ code, language }: Props): ReactNode {
  const runs = useHighlighted(language, code);
  if (runs === undefined) return <Plain text={code} />;
  return runs.map(({ text, kind }, index) => (
    <span key={`${index}-${kind ?? ''}`} className={kind}>
      <Plain text={text} />
    </span>
  ));
}
