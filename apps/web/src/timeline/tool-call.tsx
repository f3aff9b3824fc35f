import { callAnswer, type LlmContent, type Tool } from '@concerto/protocol';
import { lazy, type ReactNode, Suspense, useContext, useState } from 'react';
import { Counts, DiffView } from '../diff/diff-view.tsx';
import { isJsonObject } from '../json/json-object.ts';
import { JsonView } from '../json/json-view.tsx';
import { lineOf } from '../json/line-of.ts';
import { useRow } from '../live/use-overview.ts';
import { Link } from '../routing/link.tsx';
import { sessionPath } from '../routing/route.ts';
import { pathFrom, ShownSessionContext } from '../session/shown-session.ts';
import { Boundary } from '../shell/boundary.tsx';
import { Icon, type IconName } from '../shell/icon.tsx';
import { TerminalView } from '../terminal/terminal-view.tsx';
import { CommandLine } from '../text/command-line.tsx';
import { durationText } from '../time/duration.ts';
import { ClockTime } from '../time/moment.tsx';
import { commandOf } from './command-of.ts';
import { ToolResult } from './tool-result.tsx';

/** A timeline in a timeline: it can hold calls as well, so it is not loaded before one is opened. */
const SessionTimeline = lazy(async () => ({
  default: (await import('../session/session-timeline.tsx')).SessionTimeline,
}));

/** A change of so many lines is shown without being asked for. */
const openLinesMax = 40;

/** One thing that the agent did: what, on what, how it went; on demand what it changed and what it printed. */
export function ToolCall({ item }: { readonly item: Tool }): ReactNode {
  const [chosen, setChosen] = useState<boolean>();
  const isOpen = chosen ?? isOpenAtFirst(item);
  const { changes, state, calls } = item;
  return (
    <details
      className="tool"
      data-outcome={state}
      open={isOpen}
      // Only a person's wish is kept: the element tells of ours as well.
      onToggle={(event) => event.currentTarget.open !== isOpen && setChosen(event.currentTarget.open)}
    >
      <summary>
        <Icon name={iconOf(item)} />
        <bdi className="tool-name">{item.title ?? item.name}</bdi>
        <Subject item={item} />
        {changes.length > 0 && <Counts added={sum(changes, 'added')} removed={sum(changes, 'removed')} />}
        {calls.length > 0 && <span className="time">{calls.length === 1 ? '1 call' : `${calls.length} calls`}</span>}
        <span className="tool-outcome">{outcomes[state]}</span>
        <Took item={item} />
      </summary>
      {isOpen && <ToolBody item={item} onUse={() => setChosen(true)} />}
    </details>
  );
}

/** What it was done on; of a model or an agent that a program asked, what it answered and what that took. */
function Subject({ item }: { readonly item: Tool }): ReactNode {
  const { folder } = useContext(ShownSessionContext);
  const row = useRow(item.childSession ?? '');
  const answer = callAnswer(item);
  if (answer === undefined) return <code className="json-line">{item.status ?? subjectOf(item, folder)}</code>;
  // What a session took is what this call took only if nothing else was asked of it.
  const tokens = row === undefined || row.turn > 1 ? answer.tokens : row.usage.inputTokens + row.usage.outputTokens;
  return (
    <span className="json-line tool-answer">
      <span className="tool-said">
        {answer.did} <strong>{answer.text}</strong>
      </span>
      {tokens > 0 && <span className="tool-tokens">{`, ${tokens.toLocaleString()} tokens`}</span>}
    </span>
  );
}

type BodyProps = {
  readonly item: Tool;
  /** Somebody works in it: it must not close under them when the call ends. */
  readonly onUse: () => void;
};

function ToolBody({ item, onUse }: BodyProps): ReactNode {
  const { args, changes, output, state, result, error, calls, childSession } = item;
  const command = commandOf(args);
  const rest = command === undefined ? args : without(args, 'command');
  // Its own timeline ends with it.
  const isToldAbove = childSession !== undefined && state === 'ok';
  return (
    <div className="tool-body" onFocusCapture={onUse}>
      {command !== undefined && <CommandLine command={command} />}
      {childSession !== undefined && (
        <>
          <Link href={sessionPath(childSession)} className="child-link">
            <Icon name="back" />
            Open its session
          </Link>
          <Boundary
            fallback={() => <p className="inline-problem">Its timeline could not be loaded: its session shows it.</p>}
          >
            <Suspense>
              <SessionTimeline id={childSession} />
            </Suspense>
          </Boundary>
        </>
      )}
      {changes.length > 0 && <DiffView changes={changes} />}
      {Object.keys(rest).length > 0 && <JsonView title="Arguments" data={rest} />}
      {calls.length > 0 && (
        <ol className="tool-calls" aria-label={`Calls of ${item.title ?? item.name}`}>
          {calls.map((call) => (
            <li key={call.key}>
              <ToolCall item={call} />
            </li>
          ))}
        </ol>
      )}
      {output !== '' && <TerminalView text={output} isLive={state === 'running'} />}
      {/* What it wrote while it ran is what it gave, unless it gave something else beside. */}
      {result !== undefined && isToldAbove && <JsonView title="Result" data={givenBy(result)} />}
      {result !== undefined && !isToldAbove && <ToolResult content={result} written={output} isText={isProse(item)} />}
      {result === undefined && error !== undefined && <TerminalView text={error} label="Error" />}
    </div>
  );
}

/** What a session that was called gave, without what is around it in the event. */
function givenBy({ parts }: LlmContent): unknown {
  const [part] = parts;
  const given: unknown = part !== undefined && 'functionResponse' in part ? part.functionResponse : undefined;
  return isJsonObject(given) ? given.response : parts;
}

/** A thought, or what a sub-agent reports. */
function isProse({ toolKind, calls, childSession }: Tool): boolean {
  return toolKind === 'think' || calls.length > 0 || childSession !== undefined;
}

function Took({ item: { at, endedAt } }: { readonly item: Tool }): ReactNode {
  const ms = endedAt === undefined ? 0 : Date.parse(endedAt) - Date.parse(at);
  return (
    <>
      {ms >= 1000 && <span className="time">{durationText(ms)}</span>}
      <ClockTime at={at} />
    </>
  );
}

function isOpenAtFirst({ state, output, changes, calls }: Tool): boolean {
  if (state === 'running') return output !== '' || calls.length > 0 || isSmall(changes);
  return state === 'failed' || isSmall(changes);
}

function isSmall(changes: Tool['changes']): boolean {
  return changes.length > 0 && sum(changes, 'added') + sum(changes, 'removed') <= openLinesMax;
}

function sum(changes: Tool['changes'], side: 'added' | 'removed'): number {
  return changes.reduce((total, change) => total + change[side], 0);
}

/** What it was done on, in a line. */
function subjectOf({ args, locations, changes }: Tool, folder: string | undefined): string {
  const command = commandOf(args);
  if (command !== undefined) return command.split('\n', 1)[0] ?? '';
  const paths = changes.length > 0 ? changes : locations;
  if (paths.length > 0) return paths.map(({ path }) => pathFrom(folder, path)).join(', ');
  return lineOf(args);
}

function without(args: Tool['args'], key: string): Tool['args'] {
  return Object.fromEntries(Object.entries(args).filter(([name]) => name !== key));
}

function iconOf({ toolKind }: Tool): IconName {
  switch (toolKind) {
    case 'read':
    case 'delete':
    case 'move':
      return 'file';
    case 'edit':
      return 'edit';
    case 'execute':
      return 'terminal';
    case 'search':
      return 'search';
    case 'fetch':
      return 'globe';
    case 'think':
    case 'switch_mode':
    case 'other':
    case undefined:
      return 'tool';
  }
}

const outcomes: Readonly<Record<Tool['state'], string>> = {
  running: 'running',
  ok: 'done',
  failed: 'failed',
  denied: 'denied',
  cancelled: 'cancelled',
};
