import type { Json } from '@concerto/base';
import type { EventLog } from '@concerto/log';
import {
  type Entry,
  fileOf,
  type LlmContent,
  readStoredEvent,
  SessionFold,
  type Tool,
  type Turn,
  wordsOf,
} from '@concerto/protocol';
import * as z from 'zod';
import type { AssistantCall, CallResult, Said, Utterance } from './assistant-history.ts';
import { resultIn } from './assistant-result.ts';

const pageEntries = 1_000;

/** What was said in the session before now, turn by turn: its events hold all of it, whoever ran it then. */
export async function recallConversation(log: EventLog, session: string): Promise<readonly (readonly Said[])[]> {
  const fold = new SessionFold();
  const args = new Map<string, Json>();
  for (let after = 0; ; ) {
    const page = await log.read({ session, stream: 'events', after, limit: pageEntries });
    for (const { data } of page.entries) {
      const event = readStoredEvent(data);
      if (event === undefined) continue;
      fold.take(event);
      if (event.type === 'functionCall' && event.extra?.args !== undefined) args.set(event.callId, event.extra.args);
    }
    const last = page.entries.at(-1)?.position;
    if (last === undefined || last >= page.head) break;
    after = last;
  }
  // What stands before the first prompt that is still kept belongs to no turn.
  return fold.view.turns.filter(({ number }) => number > 0).map((turn) => saidIn(turn, args));
}

/** What is noted of a step in which the model wrote signals that are none. */
const Slip = z.object({ slip: z.string(), message: z.string(), written: z.string() });

/** Arguments as the model wrote them, where that was no object, by call. */
type WrittenArgs = ReadonlyMap<string, Json>;

type Step = {
  readonly messageId: string | undefined;
  text: string;
  thought: string;
  readonly tools: Tool[];
  slip?: z.infer<typeof Slip>;
};

/** The steps of a turn, and what was said into it where the model heard it. */
function saidIn(turn: Turn, args: WrittenArgs): readonly Said[] {
  const said: Said[] = [{ kind: 'user', ...utterance(turn.objective ?? { parts: [] }) }];
  let step: Step | undefined;
  const close = (): void => {
    if (step !== undefined) said.push(...saidInStep(step, args));
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
  return said;
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

function saidInStep({ text, thought, tools, slip }: Step, args: WrittenArgs): readonly Said[] {
  if (text === '' && tools.length === 0 && slip === undefined) return [];
  const calls = tools.map(
    (tool): AssistantCall => ({ id: tool.callId, name: tool.name, args: args.get(tool.callId) ?? tool.args }),
  );
  const written = slip === undefined ? {} : { slip: slip.written };
  return [
    { kind: 'model', text, thought, calls, ...written },
    ...(slip === undefined ? [] : [{ kind: 'system' as const, text: slip.message }]),
    ...(tools.length === 0 ? [] : [{ kind: 'results' as const, results: tools.map(resultOf) }]),
  ];
}

/** Nobody knows how a call ended that was under way when its owner was lost. */
function resultOf({ callId: id, name, state, result }: Tool): CallResult {
  if (result === undefined) return { id, name, text: 'lost: it may or may not have been done', failed: true };
  return { id, name, ...resultIn(result), failed: state !== 'ok' };
}
