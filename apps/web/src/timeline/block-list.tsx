import { fileOf, type Part } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { isJsonObject } from '../json/json-object.ts';
import { JsonView } from '../json/json-view.tsx';
import { Markdown } from '../text/markdown.tsx';
import type { Block } from './blocks.ts';
import { FileView } from './file-view.tsx';

type Props = { readonly blocks: readonly Block[] };

export function BlockList({ blocks }: Props): ReactNode {
  return blocks.map((block, index) => {
    // Blocks only grow at the end: their place is their identity.
    const key = `${block.kind}-${index}`;
    if (block.kind === 'part') return <PartView key={key} part={block.part} />;
    if (!block.thought) return <Markdown key={key} text={block.text} />;
    return (
      <details key={key} className="thought">
        <summary>Thought</summary>
        <Markdown text={block.text} />
      </details>
    );
  });
}

function PartView({ part }: { readonly part: Part }): ReactNode {
  const file = fileOf(part);
  if (file !== undefined) return <FileView file={file} />;
  if ('functionResponse' in part) return <JsonView title="Result" data={resultOf(part.functionResponse)} isOpen />;
  if ('json' in part) return <JsonView title="Data" data={part.json} isOpen />;
  return <JsonView title={Object.keys(part)[0] ?? 'part'} data={part} />;
}

/** What a function gave; a value that is no object comes wrapped. */
function resultOf(given: unknown): unknown {
  const response = isJsonObject(given) ? given.response : undefined;
  if (!isJsonObject(response)) return response;
  const [only, ...more] = Object.keys(response);
  return only === 'result' && more.length === 0 ? response.result : response;
}
