import { type JsonObject, unreachable } from '@concerto/base';
import { filesOfChange, type LlmContent, type SuspendEvent } from '@concerto/protocol';
import { type ReactNode, useContext } from 'react';
import { DiffView } from '../diff/diff-view.tsx';
import { JsonView } from '../json/json-view.tsx';
import { pathFrom, ShownSessionContext } from '../session/shown-session.ts';
import { CommandLine } from '../text/command-line.tsx';
import { Plain } from '../text/plain.tsx';
import { BlockList } from '../timeline/block-list.tsx';
import { blocksOf } from '../timeline/blocks.ts';
import { commandOf } from '../timeline/command-of.ts';
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
    case 'queryConsent':
      return <Consent event={event} isOpen={isOpen} />;
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

type ConsentEvent = Extract<SuspendEvent, { type: 'queryConsent' }>;

/** The command as a command and the edit as a diff; what else was said stands below, folded where these say it all. */
function Consent({ event, isOpen }: { readonly event: ConsentEvent; readonly isOpen: boolean }): ReactNode {
  const { description, ...rest } = event.scope;
  const { locations = [], changes = [] } = event;
  const { folder } = useContext(ShownSessionContext);
  const command = commandOf(event.scope);
  const details = detailsOf(rest);
  const isShown = command !== undefined || changes.length > 0 || event.consentType === 'budget';
  return (
    <>
      <p className="request-question">
        <Plain text={typeof description === 'string' ? description : event.consentType} />
      </p>
      {command !== undefined && <CommandLine command={command} />}
      {changes.length > 0 && <Changes event={event} isOpen={isOpen} />}
      {changes.length === 0 && locations.length > 0 && (
        <ul className="paths" aria-label="Paths">
          {locations.map(({ path, line }) => (
            <li key={`${path}:${line ?? ''}`}>
              <Plain text={`${pathFrom(folder, path)}${line === undefined ? '' : `:${line}`}`} />
            </li>
          ))}
        </ul>
      )}
      {Object.keys(details).length > 0 && <JsonView title="Details" data={details} isOpen={isOpen && !isShown} />}
    </>
  );
}

function Changes({
  event: { changes = [] },
  isOpen,
}: {
  readonly event: ConsentEvent;
  readonly isOpen: boolean;
}): ReactNode {
  const { folder } = useContext(ShownSessionContext);
  if (isOpen) return <DiffView changes={changes} />;
  return (
    <details className="json">
      <summary>
        <span className="json-title">Changes</span>
        <span className="json-line">
          {changes
            .flatMap(filesOfChange)
            .map(({ path }) => pathFrom(folder, path))
            .join(', ')}
        </span>
      </summary>
      <DiffView changes={changes} />
    </details>
  );
}

/** Without what the card shows in its own form. */
function detailsOf(scope: JsonObject): JsonObject {
  const { risk_level: _risk, command: _command, changes: _changes, paths: _paths, ...rest } = withoutOptions(scope);
  const { channel, ...others } = rest;
  return channel === 'approve' || channel === 'approval' ? others : rest;
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
