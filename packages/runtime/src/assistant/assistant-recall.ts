import type { Json } from '@concerto/base';
import type { EventLog } from '@concerto/log';
import type { ModelReasoning } from '@concerto/models';
import {
  type Entry,
  type FoldedEvent,
  fileOf,
  type LlmContent,
  readStoredEvent,
  SessionFold,
  type Tool,
  type Turn,
  wordsOf,
} from '@concerto/protocol';
import type { SessionState } from '@concerto/session';
import * as z from 'zod';
import { resultOf as resultOfChild } from './assistant-agents.ts';
import { type CutShort, lostText } from './assistant-cut-short.ts';
import { type AssistantCall, type CallResult, compacted, type Said, type Utterance } from './assistant-history.ts';
import { resultIn, resultText } from './assistant-result.ts';
import type { Steer } from './assistant-turn.ts';

const pageEntries = 1_000;

type ChildState = (child: string) => Promise<SessionState | undefined>;

/** What was said in the session before now, turn by turn: its events hold all of it, whoever ran it then. */
export async function recallConversation(
  log: EventLog,
  session: string,
  childState: ChildState = async () => undefined,
): Promise<readonly Said[]> {
  const { turns, kept } = await readTurns(log, session, childState);
  return saidIn(turns, kept);
}

/** The same up to the last step of its last turn, and how far the calls of that have come: the turn goes on. */
export async function recallCut(
  log: EventLog,
  session: string,
  childState: ChildState,
): Promise<{ readonly said: readonly Said[]; readonly cut: Omit<CutShort, 'asked'> }> {
  const { turns, kept } = await readTurns(log, session, childState);
  const before = saidIn(turns.slice(0, -1), kept);
  const turn = turns.at(-1);
  const said = saidIn(turns, kept);
  const last = said.at(-1);
  const model = last?.kind === 'results' ? said.at(-2) : undefined;
  const isOpen = last?.kind === 'results' && model?.kind === 'model';
  const isThere = new Set(
    turn?.entries.flatMap((entry) => (entry.kind === 'tool' && entry.result ? entry.callId : [])),
  );
  return {
    said: isOpen ? said.slice(0, -1) : said,
    cut: {
      steps: said.slice(before.length).filter(({ kind }) => kind === 'model').length,
      calls: isOpen ? model.calls : [],
      results: new Map(isOpen ? last.results.flatMap((one) => (isThere.has(one.id) ? [[one.id, one]] : [])) : []),
      steered: turn === undefined ? [] : unheard(turn),
    },
  };
}

function unheard({ entries }: Turn): readonly Steer[] {
  return entries.flatMap((entry) =>
    entry.kind === 'steer' && !entry.isHeard && entry.messageId !== undefined
      ? [{ id: entry.messageId, ...utterance(entry.content) }]
      : [],
  );
}

async function readTurns(
  log: EventLog,
  session: string,
  childState: ChildState,
): Promise<{ readonly turns: readonly Turn[]; readonly kept: Kept }> {
  const fold = new SessionFold();
  const kept: Kept = { args: new Map(), metadata: new Map(), reasoning: new Map(), children: new Map() };
  for (let after = 0; ; ) {
    const page = await log.read({ session, stream: 'events', after, limit: pageEntries });
    for (const { data } of page.entries) {
      const event = readStoredEvent(data);
      if (event === undefined) continue;
      fold.take(event);
      keep(kept, event);
    }
    const last = page.entries.at(-1)?.position;
    if (last === undefined || last >= page.head) break;
    after = last;
  }
  const { turns } = fold.view;
  await keepChildren(turns, kept, childState);
  return { turns, kept };
}

/** What stands before the first prompt that is still kept belongs to no turn. */
function saidIn(turns: readonly Turn[], kept: Kept): readonly Said[] {
  const said: Said[] = [];
  for (const turn of turns) if (turn.number > 0) recallTurn(turn, kept, said);
  return said;
}

/** What is noted of a step in which the model wrote signals that are none. */
const Slip = z.object({ slip: z.string(), message: z.string(), written: z.string() });

/** What is noted where the beginning became a summary. */
const Compacted = z.object({ compacted: z.object({ summary: z.string(), kept: z.number().int().nonnegative() }) });

/** What stands beside the events: arguments that were no object and what a provider wants back, by call and message. */
type Kept = {
  readonly args: Map<string, Json>;
  readonly metadata: Map<string, Json>;
  readonly reasoning: Map<string, readonly ModelReasoning[]>;
  /** What calls of agents gave whose end nobody was there to hear. */
  readonly children: Map<string, Pick<CallResult, 'text' | 'failed'>>;
};

const Reasoning = z.array(z.object({ text: z.string(), metadata: z.json() }));

function keep({ args, metadata, reasoning }: Kept, event: FoldedEvent): void {
  if (event.type === 'functionCall') {
    if (event.extra?.args !== undefined) args.set(event.callId, event.extra.args);
    if (event.extra?.metadata !== undefined) metadata.set(event.callId, event.extra.metadata);
  }
  if (event.type !== 'thought' || event.messageId === undefined) return;
  const read = Reasoning.safeParse(event.extra?.reasoning);
  if (read.success) reasoning.set(event.messageId, read.data);
}

/** A call of an agent is a session of its own, which tells what became of it when the turn was lost. */
async function keepChildren(turns: readonly Turn[], { children }: Kept, childState: ChildState): Promise<void> {
  for (const turn of turns) {
    if (turn.state !== 'lost') continue;
    for (const entry of turn.entries) {
      if (entry.kind !== 'tool' || entry.childSession === undefined || entry.state === 'ok') continue;
      const state = await childState(entry.childSession);
      if (state !== undefined) children.set(entry.callId, childResult(state));
    }
  }
}

function childResult(state: SessionState): Pick<CallResult, 'text' | 'failed'> {
  try {
    return { text: resultText(resultOfChild(state)), failed: false };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    return { text: `lost, with what it had done so far: ${why}`, failed: true };
  }
}

type Step = {
  readonly messageId: string | undefined;
  text: string;
  thought: string;
  readonly tools: Tool[];
  slip?: z.infer<typeof Slip>;
};

/** The steps of a turn, and what was said into it where the model heard it; added to what was said before it. */
function recallTurn(turn: Turn, kept: Kept, said: Said[]): void {
  said.push({ kind: 'user', ...utterance(turn.objective ?? { parts: [] }) });
  let step: Step | undefined;
  const close = (): void => {
    if (step !== undefined) said.push(...saidInStep(step, kept));
    step = undefined;
  };
  const stepOf = (messageId: string | undefined): Step => {
    if (step?.messageId !== messageId) close();
    step ??= { messageId, text: '', thought: '', tools: [] };
    return step;
  };
  for (const entry of spoken(turn)) {
    switch (entry.kind) {
      case 'text':
      case 'thought':
      case 'tool':
        step = stepOf(entry.messageId);
        if (entry.kind === 'tool') step.tools.push(entry);
        else step[entry.kind] += entry.text;
        break;
      case 'note': {
        const slip = Slip.safeParse(entry.data);
        if (slip.success) stepOf(slip.data.slip).slip = slip.data;
        const note = Compacted.safeParse(entry.data);
        if (!note.success) break;
        close();
        const { summary, kept: last } = note.data.compacted;
        said.splice(0, said.length, ...compacted(said, summary, last));
        break;
      }
      case 'steer':
        if (!entry.isHeard) break;
        close();
        said.push({ kind: 'user', ...utterance(entry.content) });
        break;
      default:
        break;
    }
  }
  close();
}

function utterance(content: LlmContent): Utterance {
  const text = wordsOf(content);
  return content.parts.some((part) => fileOf(part) !== undefined) ? { text, parts: content.parts } : { text };
}

/** In a log from before messages had ids, the last text of a turn with a result repeats it. */
function spoken({ entries, result }: Turn): readonly Entry[] {
  const texts = entries.flatMap((entry) => (entry.kind === 'text' ? [entry] : []));
  const last = texts.at(-1);
  const repeats = result !== undefined && texts.length > 1 && last?.messageId === undefined;
  return repeats ? entries.filter((entry) => entry !== last) : entries;
}

function saidInStep({ messageId, text, thought, tools, slip }: Step, kept: Kept): readonly Said[] {
  if (text === '' && tools.length === 0 && slip === undefined) return [];
  const calls = tools.map(({ callId: id, name, args }): AssistantCall => {
    const metadata = kept.metadata.get(id);
    return { id, name, args: kept.args.get(id) ?? args, ...(metadata === undefined ? {} : { metadata }) };
  });
  const reasoning = messageId === undefined ? undefined : kept.reasoning.get(messageId);
  const written = {
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(slip === undefined ? {} : { slip: slip.written }),
  };
  return [
    { kind: 'model', text, thought, calls, ...written },
    ...(slip === undefined ? [] : [{ kind: 'system' as const, text: slip.message }]),
    ...(tools.length === 0 ? [] : [{ kind: 'results' as const, results: tools.map((tool) => resultOf(tool, kept)) }]),
  ];
}

/** Nobody knows how a call ended that was under way when its owner was lost. */
function resultOf({ callId: id, name, state, result }: Tool, { children }: Kept): CallResult {
  const child = children.get(id);
  if (child !== undefined) return { id, name, ...child };
  if (result === undefined) return { id, name, text: lostText, failed: true };
  return { id, name, ...resultIn(result), failed: state !== 'ok' };
}
