import type { Json } from '@concerto/base';
import type { ToolKind } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { Counts, DiffView } from '../diff/diff-view.tsx';
import { isJsonObject } from '../json/json-object.ts';
import { JsonView } from '../json/json-view.tsx';
import { lineOf } from '../json/line-of.ts';
import { Icon, type IconName } from '../shell/icon.tsx';
import { TerminalView } from '../terminal/terminal-view.tsx';
import { CommandLine } from '../text/command-line.tsx';
import { durationText } from '../time/duration.ts';
import { ClockTime } from '../time/moment.tsx';
import { commandOf } from './command-of.ts';
import type { ToolItem } from './timeline-state.ts';
import { ToolResult } from './tool-result.tsx';

/** A change of so many lines is shown without being asked for. */
const openLinesMax = 40;

/** One thing that the agent did: what, on what, how it went; on demand what it changed and what it printed. */
export function ToolCall({ item }: { readonly item: ToolItem }): ReactNode {
  const [chosen, setChosen] = useState<boolean>();
  const isOpen = chosen ?? isOpenAtFirst(item);
  const { changes, outcome } = item;
  return (
    <details
      className="tool"
      data-outcome={outcome}
      open={isOpen}
      // Only a person's wish is kept: the element tells of ours as well.
      onToggle={(event) => event.currentTarget.open !== isOpen && setChosen(event.currentTarget.open)}
    >
      <summary>
        <Icon name={iconOf(item.what)} />
        <span className="tool-name">{item.title ?? item.name}</span>
        <code className="json-line">{item.status ?? subjectOf(item)}</code>
        {changes.length > 0 && <Counts added={sum(changes, 'added')} removed={sum(changes, 'removed')} />}
        <span className="tool-outcome">{outcomes[outcome]}</span>
        <Took item={item} />
      </summary>
      {isOpen && <ToolBody item={item} />}
    </details>
  );
}

function ToolBody({ item }: { readonly item: ToolItem }): ReactNode {
  const { args, changes, output, outcome, result } = item;
  const command = commandOf(args);
  const rest = isJsonObject(args) && command !== undefined ? without(args, 'command') : args;
  const isRunning = outcome === 'running';
  return (
    <div className="tool-body">
      {command !== undefined && <CommandLine command={command} />}
      {changes.length > 0 && <DiffView changes={changes} />}
      {hasFields(rest) && <JsonView title="Arguments" data={rest} />}
      {output !== '' && <TerminalView text={output} isLive={isRunning} />}
      {/* What it wrote while it ran is what it gave, unless it gave something else beside. */}
      {result !== undefined && <ToolResult blocks={result} written={output} isText={item.what === 'think'} />}
    </div>
  );
}

function Took({ item: { at, endedAt } }: { readonly item: ToolItem }): ReactNode {
  const ms = endedAt === undefined ? 0 : Date.parse(endedAt) - Date.parse(at);
  return (
    <>
      {ms >= 1000 && <span className="time">{durationText(ms)}</span>}
      <ClockTime at={at} />
    </>
  );
}

function isOpenAtFirst({ outcome, output, changes }: ToolItem): boolean {
  if (outcome === 'running') return output !== '' || isSmall(changes);
  return outcome === 'failed' || isSmall(changes);
}

function isSmall(changes: ToolItem['changes']): boolean {
  return changes.length > 0 && sum(changes, 'added') + sum(changes, 'removed') <= openLinesMax;
}

function sum(changes: ToolItem['changes'], side: 'added' | 'removed'): number {
  return changes.reduce((total, change) => total + change[side], 0);
}

/** What it was done on, in a line. */
function subjectOf({ args, locations, changes }: ToolItem): string {
  const command = commandOf(args);
  if (command !== undefined) return command.split('\n', 1)[0] ?? '';
  const paths = changes.length > 0 ? changes : locations;
  if (paths.length > 0) return paths.map(({ path }) => path).join(', ');
  return lineOf(args);
}

function hasFields(args: Json): boolean {
  return !isJsonObject(args) || Object.keys(args).length > 0;
}

function without(args: Readonly<Record<string, Json>>, key: string): Json {
  return Object.fromEntries(Object.entries(args).filter(([name]) => name !== key));
}

function iconOf(kind: ToolKind | undefined): IconName {
  switch (kind) {
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

const outcomes: Readonly<Record<ToolItem['outcome'], string>> = {
  running: 'running',
  ok: 'done',
  failed: 'failed',
  denied: 'denied',
  cancelled: 'cancelled',
};
