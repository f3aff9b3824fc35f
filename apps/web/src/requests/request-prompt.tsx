import { unreachable } from '@concerto/base';
import type { LlmContent, SuspendEvent } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { JsonView } from '../json/json-view.tsx';
import { BlockList } from '../timeline/block-list.tsx';
import { blocksOf } from '../timeline/blocks.ts';
import { withoutOptions } from './consent-options.ts';

type Props = {
  readonly event: SuspendEvent;
  /** Still to be decided: nothing that helps to is folded away. */
  readonly isOpen: boolean;
};

/** What is asked, with all that the agent gave to decide it. */
export function RequestPrompt({ event, isOpen }: Props): ReactNode {
  switch (event.type) {
    case 'waitForInput':
    case 'waitForChoice':
      return <Prompt content={event.prompt} />;
    case 'queryConsent': {
      const { description, risk_level: _risk, ...rest } = withoutOptions(event.scope);
      return (
        <>
          <p className="request-question">{typeof description === 'string' ? description : event.consentType}</p>
          {Object.keys(rest).length > 0 && <JsonView title="Details" data={rest} isOpen={isOpen} />}
        </>
      );
    }
    case 'readGraph':
      return <p className="request-question">The agent reads the graph.</p>;
    case 'inspectNode':
      return <p className="request-question">The agent inspects node {event.nodeId}.</p>;
    case 'applyEdits':
      return (
        <>
          <p className="request-question">{event.label}</p>
          <JsonView title="Edits" data={event.edits ?? event.transform ?? null} isOpen={isOpen} />
        </>
      );
    default:
      return unreachable(event);
  }
}

/** The first part is the question, what follows is its background. */
function Prompt({ content }: { readonly content: LlmContent }): ReactNode {
  const [question, ...rest] = content.parts;
  if (question === undefined) return null;
  return (
    <>
      <div className="request-question">
        <BlockList blocks={blocksOf({ parts: [question] })} />
      </div>
      {rest.length > 0 && (
        <div className="request-context">
          <BlockList blocks={blocksOf({ parts: rest })} />
        </div>
      )}
    </>
  );
}
