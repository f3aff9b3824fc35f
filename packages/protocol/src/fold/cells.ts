import type { FileChange, Location } from '../agent-event.ts';
import { JsonRecord } from '../json-value.ts';
import type { LlmContent, Part } from '../llm-content.ts';
import type { StoredEvent } from '../stored-event.ts';
import type { Entry, TextEntry, Tool } from './session-view.ts';

export type EventOf<Type extends StoredEvent['type']> = Extract<StoredEvent, { type: Type }>;

/** A place among the entries of a turn. The entry in it is never changed, only replaced. */
export type Cell<Shown extends Entry = Entry> = {
  entry: Shown;
  /** It stands elsewhere now. */
  isMoved?: boolean;
};

export type ToolCell = Cell<Tool> & {
  readonly parent: ToolCell | undefined;
  readonly calls: ToolCell[];
  /** A call of its sub-agent has changed since the entry was made. */
  isStale: boolean;
};

/** A running call may write without end; its end is what is read. */
const outputCharactersMax = 256_000;

export function textAfter(entry: TextEntry, content: LlmContent, isWhole: boolean): TextEntry {
  let text = isWhole ? '' : entry.text;
  let parts: readonly Part[] = isWhole ? [] : entry.parts;
  for (const part of content.parts) {
    if ('text' in part && typeof part.text === 'string') text += part.text;
    else parts = [...parts, part];
  }
  return { ...entry, text, parts };
}

export function toolOf(call: EventOf<'functionCall'>, parent: ToolCell | undefined): ToolCell {
  const entry: Tool = {
    kind: 'tool',
    key: call.seq,
    at: call.at,
    callId: call.callId,
    messageId: call.messageId,
    name: call.name,
    title: call.title,
    toolKind: call.kind,
    args: call.args,
    childSession: call.childSession,
    locations: call.locations ?? [],
    changes: call.changes ?? [],
    status: undefined,
    output: '',
    state: 'running',
    result: undefined,
    error: undefined,
    endedAt: undefined,
    calls: [],
  };
  const cell: ToolCell = { entry, parent, calls: [], isStale: false };
  parent?.calls.push(cell);
  markStale(parent);
  return cell;
}

export function setTool(cell: ToolCell, changes: Partial<Tool>): void {
  cell.entry = { ...cell.entry, ...changes };
  markStale(cell.parent);
}

/** The same call told again, as by agents that learn its arguments late: what is said now counts. */
export function retellTool(cell: ToolCell, { args, title, kind, ...touched }: EventOf<'functionCall'>): void {
  const { entry } = cell;
  setTool(cell, { args, title: title ?? entry.title, toolKind: kind ?? entry.toolKind, ...touchedOf(touched) });
}

/** Beside what it does now an agent tells what it was given, where that came late. */
export function updateTool(cell: ToolCell, { status, extra, ...touched }: EventOf<'functionCallUpdate'>): void {
  const { args } = cell.entry;
  const told = JsonRecord.safeParse(extra?.args);
  setTool(cell, { status: status ?? undefined, args: told.success ? told.data : args, ...touchedOf(touched) });
}

export function writeOutput(cell: ToolCell, text: string): void {
  const output = cell.entry.output + text;
  const isTooLong = output.length > 2 * outputCharactersMax;
  setTool(cell, { output: isTooLong ? output.slice(-outputCharactersMax) : output });
}

/** Only the first result counts. */
export function endTool(cell: ToolCell, { content, outcome, at, ...touched }: EventOf<'functionResult'>): void {
  const { state, error } = cell.entry;
  if (state !== 'running') return;
  const ended = outcome ?? (error === undefined ? 'ok' : 'failed');
  setTool(cell, { state: ended, result: content, endedAt: at, status: undefined, ...touchedOf(touched) });
}

/** As it is shown, with the calls of its sub-agent as they are now. */
export function shownTool(cell: ToolCell): Tool {
  if (cell.isStale) {
    cell.isStale = false;
    cell.entry = { ...cell.entry, calls: cell.calls.map(shownTool) };
  }
  return cell.entry;
}

function touchedOf(said: {
  readonly locations?: Location[] | undefined;
  readonly changes?: FileChange[] | undefined;
}): Partial<Pick<Tool, 'locations' | 'changes'>> {
  return {
    ...(said.locations === undefined ? {} : { locations: said.locations }),
    ...(said.changes === undefined ? {} : { changes: said.changes }),
  };
}

function markStale(cell: ToolCell | undefined): void {
  for (let at = cell; at !== undefined && !at.isStale; at = at.parent) at.isStale = true;
}
