import type { TurnOutcome } from '../agent-event.ts';
import type { LlmContent } from '../llm-content.ts';
import { type Cell, type EventOf, setTool, shownTool, type ToolCell, textAfter, toolOf } from './cells.ts';
import type { Entry, SteerEntry, TextEntry, Turn } from './session-view.ts';
import { noUsage, usageAfter } from './usage-fold.ts';

type Place = { readonly seq: number; readonly at: string };

/** A call of a sub-agent stands with the call that started it, and ends at the latest with the turn in which it came. */
export type PlacedTool = { readonly cell: ToolCell; readonly turn: TurnDraft; readonly runsIn: TurnDraft };

/** A turn while its events come. What it looks like is made when somebody looks, and kept until it changes. */
export class TurnDraft {
  readonly #cells: Cell[] = [];
  readonly #texts = new Map<string, Cell<TextEntry>>();
  readonly #thoughts = new Map<string, Cell<TextEntry>>();
  readonly #steers = new Map<string, Cell<SteerEntry>>();
  /** And the turn where each is shown. */
  readonly #running = new Map<ToolCell, TurnDraft>();
  #isTextOver = false;
  /** All but the entries. */
  #facts: Omit<Turn, 'entries'>;
  #shown: Turn | undefined;

  constructor(number: number, { seq, at }: Place, objective: LlmContent | undefined) {
    this.#facts = {
      key: seq,
      at,
      number,
      objective,
      callId: undefined,
      agent: undefined,
      state: objective === undefined ? 'over' : 'running',
      reason: undefined,
      endedAt: undefined,
      progress: undefined,
      locations: [],
      result: undefined,
      usage: noUsage,
      isCut: false,
    };
  }

  get facts(): Omit<Turn, 'entries'> {
    return this.#facts;
  }

  get shown(): Turn {
    if (this.#shown === undefined) {
      const entries: Entry[] = [];
      for (const cell of this.#cells) if (cell.isMoved !== true) entries.push(shownEntry(cell));
      this.#shown = { ...this.#facts, entries };
    }
    return this.#shown;
  }

  set(facts: Partial<Omit<Turn, 'entries'>>): void {
    this.#facts = { ...this.#facts, ...facts };
    this.changed();
  }

  changed(): void {
    this.#shown = undefined;
  }

  get size(): number {
    return this.#cells.length;
  }

  /** Of the entry at an index, as they stand. */
  keyAt(index: number): number | undefined {
    return this.#cells[index]?.entry.key;
  }

  /** Lets go of the first so many cells, but for what is still to be answered or running. Returns what went. */
  forget(count: number): readonly Cell[] {
    const first = this.#cells.splice(0, count);
    const open = first.filter(isOpen);
    this.#cells.unshift(...open);
    const gone = first.filter((cell) => !isOpen(cell));
    for (const { entry } of gone) this.#forgetText(entry);
    if (gone.length > 0) this.set({ isCut: true });
    return gone;
  }

  #forgetText(entry: Entry): void {
    if (!('messageId' in entry) || entry.messageId === undefined) return;
    if (entry.kind === 'text') this.#texts.delete(entry.messageId);
    if (entry.kind === 'thought') this.#thoughts.delete(entry.messageId);
    if (entry.kind === 'steer') this.#steers.delete(entry.messageId);
  }

  push(entry: Entry): Cell {
    return this.place({ entry });
  }

  place<Some extends Cell>(cell: Some): Some {
    this.#cells.push(cell);
    this.changed();
    return cell;
  }

  /** Pieces of one message are one entry, where its first piece came; without an id, as long as nothing comes between. */
  say(place: Place, content: LlmContent, message: { readonly id: string | undefined; readonly whole: boolean }): Cell {
    const cell = this.#textCell('text', place, message.id);
    cell.entry = textAfter(cell.entry, content, message.whole);
    this.changed();
    return cell;
  }

  /** What follows without an id is no piece of what came before. */
  endText(): void {
    this.#isTextOver = true;
  }

  think(place: Place, text: string, messageId: string | undefined): Cell {
    const cell = this.#textCell('thought', place, messageId);
    cell.entry = { ...cell.entry, text: cell.entry.text + text };
    this.changed();
    return cell;
  }

  /** Where it was handed over, until it is known where it was heard. */
  steer(entry: SteerEntry): Cell {
    const { messageId } = entry;
    const before = messageId === undefined ? undefined : this.#steers.get(messageId);
    if (before !== undefined) {
      if (!entry.isHeard || before.entry.isHeard) return before;
      before.isMoved = true;
    }
    const cell: Cell<SteerEntry> = { entry: { ...entry, by: entry.by ?? before?.entry.by } };
    if (messageId !== undefined) this.#steers.set(messageId, cell);
    return this.place(cell);
  }

  call(event: EventOf<'functionCall'>, parent: PlacedTool | undefined): PlacedTool {
    const cell = toolOf(event, parent?.cell);
    const turn = parent?.turn ?? this;
    this.#running.set(cell, turn);
    if (parent === undefined) this.place(cell);
    else turn.changed();
    return { cell, turn, runsIn: this };
  }

  callEnded(cell: ToolCell): void {
    this.#running.get(cell)?.changed();
    this.#running.delete(cell);
  }

  usage(event: EventOf<'usage'>): void {
    if (event.turn !== undefined) this.set({ usage: usageAfter(this.#facts.usage, event) });
  }

  /** Whatever still runs in it has come to nothing. */
  leaveCalls(at: string): void {
    for (const [cell, turn] of this.#running) {
      setTool(cell, { state: 'cancelled', endedAt: at, status: undefined });
      turn.changed();
    }
    this.#running.clear();
  }

  end(state: 'over' | TurnOutcome, at: string, reason?: string): void {
    this.leaveCalls(at);
    this.set({ state, endedAt: at, progress: undefined, locations: [], reason: reason ?? this.#facts.reason });
  }

  #textCell(kind: 'text' | 'thought', { seq, at }: Place, messageId: string | undefined): Cell<TextEntry> {
    const known = kind === 'text' ? this.#texts : this.#thoughts;
    const open = messageId === undefined ? this.#openText(kind) : known.get(messageId);
    if (open !== undefined) return open;
    this.#isTextOver = false;
    const cell: Cell<TextEntry> = { entry: { kind, key: seq, at, messageId, text: '', parts: [] } };
    if (messageId !== undefined) known.set(messageId, cell);
    this.#cells.push(cell);
    return cell;
  }

  #openText(kind: 'text' | 'thought'): Cell<TextEntry> | undefined {
    const last = this.#isTextOver ? undefined : this.#cells.at(-1);
    return last !== undefined && isText(last, kind) && last.entry.messageId === undefined ? last : undefined;
  }
}

function shownEntry(cell: Cell): Entry {
  return isTool(cell) ? shownTool(cell) : cell.entry;
}

function isOpen({ entry }: Cell): boolean {
  if (entry.kind === 'tool') return entry.state === 'running';
  return entry.kind === 'request' && entry.settled === undefined;
}

export function isTool(cell: Cell): cell is ToolCell {
  return 'calls' in cell;
}

function isText(cell: Cell, kind: 'text' | 'thought'): cell is Cell<TextEntry> {
  return cell.entry.kind === kind;
}
