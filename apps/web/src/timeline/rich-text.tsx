import { Fragment, memo, type ReactNode } from 'react';
import { type Span, spansOf, type TextBlock, textBlocksOf } from './parse-rich-text.ts';

/** A longer text is shown as it is: nobody reads it for its looks, and it would be read again with each new piece. */
const richTextMax = 200_000;

/** An agent's text: paragraphs, lists, headings, code, as far as agents commonly write them. Never HTML. */
export const RichText = memo(function RichText({ text }: { readonly text: string }): ReactNode {
  if (text.length > richTextMax) return <pre className="code">{text}</pre>;
  return (
    <div className="rich-text">
      {textBlocksOf(text).map((block, index) => (
        <BlockView key={`${block.kind}-${index}`} block={block} />
      ))}
    </div>
  );
});

function BlockView({ block }: { readonly block: TextBlock }): ReactNode {
  switch (block.kind) {
    case 'code':
      return (
        <pre className="code" aria-label={block.language === '' ? 'Code' : `Code, ${block.language}`}>
          <code>{block.text}</code>
        </pre>
      );
    case 'heading': {
      // The page has the first two levels.
      const Heading = block.level === 1 ? 'h3' : 'h4';
      return (
        <Heading className="heading">
          <Spans text={block.text} />
        </Heading>
      );
    }
    case 'list': {
      const items = block.items.map((item, index) => (
        <li key={`${index}-${item.slice(0, 20)}`}>
          <Spans text={item} />
        </li>
      ));
      return block.isOrdered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
    }
    case 'paragraph':
      return (
        <p>
          <Spans text={block.text} />
        </p>
      );
  }
}

function Spans({ text }: { readonly text: string }): ReactNode {
  return spansOf(text).map((span, index) => <Fragment key={`${index}-${span.kind}`}>{spanView(span)}</Fragment>);
}

function spanView(span: Span): ReactNode {
  switch (span.kind) {
    case 'text':
      return span.text;
    case 'code':
      return <code>{span.text}</code>;
    case 'strong':
      return <strong>{span.text}</strong>;
    case 'link':
      return (
        <a href={span.href} target="_blank" rel="noreferrer noopener">
          {span.text}
        </a>
      );
  }
}
