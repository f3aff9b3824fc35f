import type { MarkedToken, Token } from 'marked';
import type { ReactNode } from 'react';
import { Plain } from './plain.tsx';
import { safeLink } from './safe-link.ts';
import { unescaped } from './unescaped.ts';

export function Inline({ tokens }: { readonly tokens: readonly Token[] | undefined }): ReactNode {
  return tokens?.map((token, index) => <Span key={`${index}-${token.type}`} token={token} />);
}

function Span({ token: given }: { readonly token: Token }): ReactNode {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- we give the lexer no extensions, so there are no other kinds
  const token = given as MarkedToken;
  switch (token.type) {
    case 'strong':
      return (
        <strong>
          <Inline tokens={token.tokens} />
        </strong>
      );
    case 'em':
      return (
        <em>
          <Inline tokens={token.tokens} />
        </em>
      );
    case 'del':
      return (
        <del>
          <Inline tokens={token.tokens} />
        </del>
      );
    case 'codespan':
      return (
        <code>
          <Plain text={token.text} />
        </code>
      );
    case 'br':
      return '\n'; // The paragraph keeps its line ends, and so does what is copied from it.
    case 'link':
      return <LinkTo href={token.href} text={token.text} tokens={token.tokens} />;
    case 'image':
      return (
        <LinkTo href={token.href} text={`image: ${token.text === '' ? token.href : token.text}`} tokens={undefined} />
      );
    case 'text':
      return token.tokens === undefined ? <Plain text={unescaped(token.text)} /> : <Inline tokens={token.tokens} />;
    case 'escape':
      return <Plain text={token.text} />;
    default:
      return <Plain text={token.raw} />;
  }
}

type LinkProps = { readonly href: string; readonly text: string; readonly tokens: readonly Token[] | undefined };

/** Says where it leads when its own text says something else. */
function LinkTo({ href, text, tokens }: LinkProps): ReactNode {
  const link = safeLink(href, text);
  const label = tokens === undefined ? <Plain text={text} /> : <Inline tokens={tokens} />;
  if (link === undefined) {
    return (
      <span className="no-link" title={`Not a link that can be followed from here: ${href}`}>
        {label}
      </span>
    );
  }
  return (
    <>
      <a href={link.href} target="_blank" rel="noreferrer noopener nofollow" title={link.href}>
        {label}
      </a>
      {link.isMisleading && (
        <span className="link-warning" title="The text of this link names another address">
          {' '}
          → {link.host}
        </span>
      )}
    </>
  );
}
