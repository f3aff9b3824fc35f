import type { LlmContent } from '@concerto/protocol';
import { blocksOf, blocksText, joinBlocks } from './blocks.ts';
import { failTool } from './fold-tool.ts';
import { lastItem, push, replaceLast, type TimelineDraft } from './timeline-draft.ts';
import type { EventOf, TimelineItem } from './timeline-state.ts';

/** How far back a repeated reason or a repeated text is looked for. */
const lookBackMax = 200;

export function foldStart(draft: TimelineDraft, event: EventOf<'start'>): void {
  draft.turn += 1;
  draft.sessionRevision = event.seq;
  draft.isTurnOpen = true;
  draft.hasTurnFailed = false;
  draft.turnCall = undefined;
  draft.resultFields = undefined;
  const blocks = blocksOf(event.objective);
  push(draft, { kind: 'prompt', key: event.seq, at: event.at, turn: draft.turn, blocks, how: 'prompt' });
}

/** A message that entered a running turn is nowhere else among the events. */
export function foldSteer(draft: TimelineDraft, { message, seq, at }: EventOf<'message'>): void {
  if (message.status !== 'delivered' || message.how !== 'steer' || draft.steered.has(message.id)) return;
  draft.steered.add(message.id);
  const blocks = [{ kind: 'text', text: message.content, thought: false }] as const;
  push(draft, { kind: 'prompt', key: seq, at, turn: draft.turn, blocks, how: 'steer' });
}

export function foldThought(draft: TimelineDraft, event: EventOf<'thought'>): void {
  say(draft, event, { parts: [{ text: event.text, thought: true }] });
}

export function foldContent(draft: TimelineDraft, event: EventOf<'content'>): void {
  if (draft.resultFields === undefined) return say(draft, event, event.content);
  foldResult(draft, event);
}

function say(draft: TimelineDraft, { seq, at }: { seq: number; at: string }, content: LlmContent): void {
  const last = lastItem(draft);
  if (last?.kind === 'content' && last.turn === draft.turn) {
    return replaceLast(draft, { ...last, blocks: joinBlocks(last.blocks, content) });
  }
  push(draft, { kind: 'content', key: seq, at, turn: draft.turn, blocks: blocksOf(content) });
}

function foldResult(draft: TimelineDraft, { content, seq, at }: EventOf<'content'>): void {
  const fields = draft.resultFields ?? {};
  draft.resultFields = undefined;
  draft.lastResultTurn = draft.turn;
  const text = normal(blocksText(blocksOf(content)));
  const common = { kind: 'result', key: seq, at, turn: draft.turn, fields } as const;
  const said = saidInTurn(draft);
  const last = said.at(-1);
  if (text !== '' && last !== undefined && normal(blocksText(last.item.blocks)) === text) {
    draft.items[last.index] = { ...common, blocks: last.item.blocks, isRepeat: false };
    return;
  }
  const whole = normal(said.map(({ item }) => blocksText(item.blocks)).join(''));
  const isRepeat = text !== '' && whole === text;
  // A result without text comes as JSON of the very fields that are shown beside it.
  const isFieldsOnly = text === '' && Object.keys(fields).length > 0;
  push(draft, { ...common, blocks: isFieldsOnly ? [] : blocksOf(content), isRepeat });
}

/** The end of a session that ends with its first result; shown only where no turn has shown it. */
export function foldComplete(draft: TimelineDraft, event: EventOf<'complete'>): void {
  const { outcomes } = event.result;
  if (outcomes === undefined || draft.lastResultTurn === draft.turn) return;
  draft.resultFields = {};
  foldResult(draft, { type: 'content', content: outcomes, seq: event.seq, at: event.at });
}

export function foldError(
  draft: TimelineDraft,
  event: { readonly seq: number; readonly at: string; readonly callId?: string },
  text: string,
): void {
  draft.progress = undefined;
  if (event.callId !== undefined && event.callId !== draft.turnCall && failTool(draft, event.callId, text)) return;
  draft.hasTurnFailed = true;
  if (!isNews(draft, text)) return;
  const [message = '', ...rest] = text.split('\n');
  const tail = rest.join('\n').trim();
  push(draft, {
    kind: 'error',
    key: event.seq,
    at: event.at,
    turn: draft.turn,
    message: message.replace(/; the end of its stderr:$/, ''),
    tail: tail === '' ? undefined : tail,
  });
}

/** Whether the reason of something has not just been shown as an error. */
export function isNews(draft: TimelineDraft, text: string): boolean {
  const error = lastInTurn(draft, (item) => item.kind === 'error');
  return error?.kind !== 'error' || !text.startsWith(error.message);
}

function lastInTurn(draft: TimelineDraft, wanted: (item: TimelineItem) => boolean): TimelineItem | undefined {
  const { items, turn } = draft;
  for (let index = items.length - 1; index >= Math.max(0, items.length - lookBackMax); index--) {
    const item = items[index];
    if (item === undefined || item.turn !== turn) return undefined;
    if (wanted(item)) return item;
  }
  return undefined;
}

function saidInTurn(draft: TimelineDraft) {
  const { items, turn } = draft;
  const from = Math.max(0, items.length - lookBackMax);
  return items
    .slice(from)
    .flatMap((item, offset) => (item.kind === 'content' && item.turn === turn ? [{ item, index: from + offset }] : []));
}

function normal(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
