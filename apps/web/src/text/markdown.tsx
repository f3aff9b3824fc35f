import { Lexer, type MarkedToken, type Token } from 'marked';
import { memo, type ReactNode } from 'react';
import { CodeBlock } from './code-block.tsx';
import { Inline } from './markdown-inline.tsx';
import { blockTokens } from './markdown-tokens.ts';
import { Plain } from './plain.tsx';

/** A longer text is shown as it is: nobody reads it for its looks, and it would be read again with each new piece. */
const markdownMax = 200_000;

/**
 * An agent's text: CommonMark with GitHub's tables, task lists and strikethrough, as elements; HTML in it is shown as
 * the text that it is. Each block is drawn again only when its own source has changed, so a text that streams in
 * leaves what stands alone.
 */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }): ReactNode {
  if (text.length > markdownMax) return <CodeBlock code={text} language="" />;
  return (
    <div className="rich-text">
      {blockTokens(text).map((token, index) => (
        // Blocks only grow at the end: their place is their identity.
        <Block key={`${index}-${token.type}`} raw={token.raw} token={token} />
      ))}
    </div>
  );
});

const headings = ['h3', 'h4'] as const;

type BlockProps = { readonly raw: string; readonly token: Token };

const Block = memo(
  function Block({ token }: BlockProps): ReactNode {
    return <BlockBody token={token} />;
  },
  (before, after) => before.raw === after.raw && before.token.type === after.token.type,
);

function Blocks({ tokens }: { readonly tokens: readonly Token[] | undefined }): ReactNode {
  return tokens?.map((token, index) => <BlockBody key={`${index}-${token.type}`} token={token} />);
}

function BlockBody({ token: given }: { readonly token: Token }): ReactNode {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- we give the lexer no extensions, so there are no other kinds
  const token = given as MarkedToken;
  switch (token.type) {
    case 'code':
      return <CodeBlock code={token.text} language={/^[\w+#.-]*/.exec(token.lang ?? '')?.[0] ?? ''} />;
    case 'heading': {
      // The page has the first two levels.
      const Heading = headings[token.depth - 1] ?? 'h5';
      return (
        <Heading className="heading">
          <Inline tokens={token.tokens} />
        </Heading>
      );
    }
    case 'blockquote':
      return (
        <blockquote>
          <Blocks tokens={token.tokens} />
        </blockquote>
      );
    case 'list':
      return <List token={token} />;
    case 'table':
      return <Table token={token} />;
    case 'hr':
      return <hr />;
    case 'paragraph':
      return (
        <p>
          <Inline tokens={token.tokens} />
        </p>
      );
    case 'text':
      return <Inline tokens={token.tokens ?? Lexer.lexInline(token.text)} />;
    case 'html':
      return (
        <p>
          <Plain text={token.raw.trimEnd()} />
        </p>
      );
    case 'space':
    case 'def':
      return null;
    default:
      return <Plain text={token.raw} />;
  }
}

type TokenOf<Type extends MarkedToken['type']> = Extract<MarkedToken, { type: Type }>;

function List({ token }: { readonly token: TokenOf<'list'> }): ReactNode {
  const items = token.items.map((item, index) => (
    <li key={`${index}-${item.task}`} className={item.task ? 'task' : undefined}>
      {item.task && (
        <span className="task-mark">
          <span aria-hidden="true">{item.checked === true ? '☑' : '☐'}</span>
          <span className="visually-hidden">{item.checked === true ? 'done: ' : 'to do: '}</span>
        </span>
      )}
      <Blocks tokens={item.tokens.filter(({ type }) => type !== 'checkbox')} />
    </li>
  ));
  return token.ordered ? <ol start={token.start === '' ? 1 : token.start}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ token }: { readonly token: TokenOf<'table'> }): ReactNode {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls is reached by keyboard
    <figure className="table-frame" tabIndex={0} aria-label="Table">
      <table>
        <thead>
          <tr>
            {token.header.map((cell, column) => {
              // A corner that is left empty is the head of nothing.
              const Head = cell.text.trim() === '' ? 'td' : 'th';
              return (
                <Head key={`h${column}`} style={{ textAlign: cell.align ?? undefined }}>
                  <Inline tokens={cell.tokens} />
                </Head>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={`r${index}`}>
              {row.map((cell, column) => (
                <td key={`c${column}`} style={{ textAlign: cell.align ?? undefined }}>
                  <Inline tokens={cell.tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
