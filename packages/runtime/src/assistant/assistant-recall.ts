import type { EventLog } from '@concerto/log';
import { LlmContent, textOf } from '@concerto/protocol';
import { z } from 'zod';
import type { AssistantCall, CallResult, Said } from './assistant-history.ts';
import { textOfResponse } from './assistant-result.ts';

const pageEntries = 1_000;

const callId = z.string();

/** The events of which a conversation is made, as far as it needs them. */
const RecalledEvent = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('start'), objective: LlmContent }),
  z.looseObject({ type: z.literal('thought'), text: z.string() }),
  z.looseObject({ type: z.literal('content'), content: LlmContent }),
  z.looseObject({
    type: z.literal('functionCall'),
    callId,
    name: z.string(),
    args: z.record(z.string(), z.json()),
  }),
  z.looseObject({ type: z.literal('functionResult'), callId, content: LlmContent }),
  z.looseObject({ type: z.literal('subagentError'), callId }),
  z.looseObject({
    type: z.literal('message'),
    message: z.looseObject({ id: z.string(), content: z.string(), status: z.string(), how: z.string().optional() }),
  }),
]);
type RecalledEvent = z.infer<typeof RecalledEvent>;

const recalledTypes: ReadonlySet<string> = new Set(RecalledEvent.options.map((option) => option.shape.type.value));

/** What was said in the session before now, turn by turn: its events hold all of it, whoever ran it then. */
export async function recallConversation(log: EventLog, session: string): Promise<readonly (readonly Said[])[]> {
  const conversation = new Conversation();
  for (let after = 0; ; ) {
    const page = await log.read({ session, stream: 'events', after, limit: pageEntries });
    for (const { type, data } of page.entries) {
      if (!recalledTypes.has(type)) continue;
      const event = RecalledEvent.safeParse(JSON.parse(data));
      if (event.success) conversation.take(event.data);
    }
    const last = page.entries.at(-1)?.position;
    if (last === undefined || last >= page.head) return conversation.end();
    after = last;
  }
}

/** Puts the steps of each turn together again from what was shown of them. */
class Conversation {
  readonly #turns: Said[][] = [];
  /** The assistant's own work, which every turn begins with. */
  #turnCall: string | undefined;
  /** The result repeats what was said. */
  #isOver = true;
  #text = '';
  #thought = '';
  #calls: AssistantCall[] = [];
  #results = new Map<string, { readonly text: string; readonly failed: boolean }>();
  #failed = new Set<string>();
  /** Said into the turn; the model heard it at the next step. */
  #steered: string[] = [];
  readonly #seen = new Set<string>();

  take(event: RecalledEvent): void {
    switch (event.type) {
      case 'start':
        return this.#begin(textOf(event.objective));
      case 'message':
        return this.#steer(event.message);
      case 'thought':
        this.#nextStepIfAnswered();
        if (!this.#isOver) this.#thought += event.text;
        return;
      case 'content':
        this.#nextStepIfAnswered();
        if (!this.#isOver) this.#text += textOf(event.content);
        return;
      case 'functionCall':
        return this.#call(event);
      case 'subagentError':
        this.#failed.add(event.callId);
        return;
      case 'functionResult':
        if (event.callId === this.#turnCall) this.#isOver = true;
        else if (this.#calls.some(({ id }) => id === event.callId)) {
          const failed = this.#failed.has(event.callId);
          this.#results.set(event.callId, { text: textOfResponse(event.content), failed });
        }
        return;
    }
  }

  end(): readonly (readonly Said[])[] {
    this.#endStep();
    return this.#turns;
  }

  #begin(text: string): void {
    this.#endStep();
    this.#turns.push([{ kind: 'user', text }]);
    this.#turnCall = undefined;
    this.#isOver = false;
  }

  #steer({ id, content, status, how }: Extract<RecalledEvent, { type: 'message' }>['message']): void {
    if (status !== 'delivered' || how !== 'steer' || this.#seen.has(id)) return;
    this.#seen.add(id);
    this.#steered.push(content);
  }

  #call({ callId: id, name, args }: Extract<RecalledEvent, { type: 'functionCall' }>): void {
    if (this.#turnCall === undefined) {
      this.#turnCall = id;
      return;
    }
    this.#nextStepIfAnswered();
    if (!this.#isOver) this.#calls.push({ id, name, args });
  }

  #nextStepIfAnswered(): void {
    if (this.#results.size > 0) this.#endStep();
  }

  #endStep(): void {
    // What stands before the first prompt that is still kept belongs to no turn.
    const turn = this.#turns.at(-1) ?? [];
    const calls = this.#calls;
    if (this.#text !== '' || calls.length > 0) {
      turn.push({ kind: 'model', text: this.#text, thought: this.#thought, calls });
    }
    if (calls.length > 0) turn.push({ kind: 'results', results: calls.map((call) => this.#resultOf(call)) });
    turn.push(...this.#steered.map((text): Said => ({ kind: 'user', text })));
    this.#text = '';
    this.#thought = '';
    this.#calls = [];
    this.#results.clear();
    this.#failed.clear();
    this.#steered = [];
  }

  /** Nobody knows how a call ended that was under way when its owner was lost. */
  #resultOf({ id, name }: AssistantCall): CallResult {
    const known = this.#results.get(id);
    return { id, name, ...(known ?? { text: 'lost: it may or may not have been done', failed: true }) };
  }
}
