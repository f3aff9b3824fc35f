import type { LlmContent, Part } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { isJsonObject } from '../json/json-object.ts';
import { TerminalView } from '../terminal/terminal-view.tsx';
import { Markdown } from '../text/markdown.tsx';
import { BlockList } from './block-list.tsx';
import { type Block, blocksOf } from './blocks.ts';

type Props = {
  readonly content: LlmContent;
  /** What it wrote while it ran, which its result may only repeat. */
  readonly written: string;
  /** Its result is prose. */
  readonly isText: boolean;
};

/** What a tool gave back. Its text is what a program printed; anything else is shown as what it is. */
export function ToolResult({ content, written, isText }: Props): ReactNode {
  return blocksOf(content)
    .flatMap(piecesOf)
    .map((block, index) => {
      const key = `${block.kind}-${index}`;
      const text = printedText(block);
      if (text === undefined) return <BlockList key={key} blocks={[block]} />;
      if (text.trim() === '' || text.trim() === written.trim()) return null;
      return isText ? <Markdown key={key} text={text} /> : <TerminalView key={key} text={text} label="Result" />;
    });
}

/** A result may carry parts of its own: pictures, files, texts. */
function piecesOf(block: Block): readonly Block[] {
  const response = responseOf(block);
  const parts = isJsonObject(response) ? response.parts : undefined;
  if (!Array.isArray(parts)) return [block];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked as parts where the event was received
  return (parts as Part[]).map((part) =>
    'text' in part && typeof part.text === 'string'
      ? { kind: 'text', text: part.text, thought: false }
      : { kind: 'part', part },
  );
}

function printedText(block: Block): string | undefined {
  if (block.kind === 'text') return block.text;
  const given = responseOf(block);
  const response = isJsonObject(given) ? given.response : undefined;
  if (!isJsonObject(response)) return undefined;
  const [only, ...more] = Object.entries(response);
  const isOne = more.length === 0 && only !== undefined && ['result', 'error', 'text', 'output'].includes(only[0]);
  return isOne && typeof only[1] === 'string' ? only[1] : undefined;
}

function responseOf(block: Block): unknown {
  return block.kind === 'part' && 'functionResponse' in block.part ? block.part.functionResponse : undefined;
}
