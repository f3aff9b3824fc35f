import type { AgentOutput } from '@concerto/agents';
import type { AgentMessageId } from '@concerto/protocol';
import type { AgentRun } from './agent-run.ts';
import { shorten } from './wire-shape.ts';

/** An agent that asks more often than this will not stop asking. */
const asksMax = 50;
const shownLength = 80;

/** Something the agent waits for. */
export type Ask = {
  readonly type: 'question' | 'approval';
  readonly id: AgentMessageId | undefined;
  readonly text: string;
  /** What we answer: nothing is approved, nothing is chosen that sounds like doing something. */
  readonly answer: string;
};

export type TurnEnd =
  | { readonly kind: 'result'; readonly text: string; readonly plain: boolean }
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'lost'; readonly message: string }
  /** It broke the wire so that the turn cannot be trusted to end. */
  | { readonly kind: 'broken'; readonly message: string }
  | { readonly kind: 'asks-on' }
  | { readonly kind: 'late'; readonly lastHeardAt: number | undefined };

export type Turn = { readonly end: TurnEnd; readonly asks: readonly Ask[] };

/** Reads one turn to its end and answers what it asks. */
export async function readTurn(run: AgentRun, deadline: AbortSignal): Promise<Turn> {
  const asks: Ask[] = [];
  let lastHeardAt: number | undefined;
  for (;;) {
    const said = await run.next(deadline);
    if (said === undefined) return { end: { kind: 'late', lastHeardAt }, asks };
    lastHeardAt = Date.now();
    const end = endOf(said);
    if (end !== undefined) return { end, asks };
    const ask = askOf(said);
    if (ask === undefined) continue;
    asks.push(ask);
    if (asks.length > asksMax) return { end: { kind: 'asks-on' }, asks };
    await answer(run, ask);
  }
}

export function endOf(said: AgentOutput): TurnEnd | undefined {
  switch (said.kind) {
    case 'exit':
      return { kind: 'lost', message: said.error.message };
    case 'violation':
      return said.fatal ? { kind: 'broken', message: said.error.message } : undefined;
    case 'announced':
    case 'begun':
    case 'events':
    case 'usage':
    case 'withdrawn':
      return undefined;
    case 'message':
      if (said.message.type === 'result')
        return { kind: 'result', text: said.message.text ?? '', plain: said.plain === true };
      return said.message.type === 'error' ? { kind: 'error', message: said.message.message } : undefined;
  }
}

export function askOf(said: AgentOutput): Ask | undefined {
  if (said.kind !== 'message') return undefined;
  const { message } = said;
  if (message.type === 'approval') {
    return { type: 'approval', id: message.id, text: shorten(message.description, shownLength), answer: 'no' };
  }
  if (message.type !== 'question') return undefined;
  const text = shorten(message.question, shownLength);
  return { type: 'question', id: message.id, text, answer: safeAnswer(message.options ?? []) };
}

function safeAnswer(options: readonly string[]): string {
  const refusal = options.find((option) => /^(no|none|nothing|skip|cancel|stop|abort|deny|reject|ask)\b/i.test(option));
  return refusal ?? options[0] ?? 'This is a check by `concerto doctor`: change nothing and finish.';
}

/** A pipe that is gone shows as the agent's exit, which is read next. */
export async function answer(run: AgentRun, { type, id, answer: value }: Ask, otherId?: string): Promise<void> {
  if (otherId === undefined) run.wire.answered(type, id);
  const inReplyToId = otherId ?? id;
  const reply = { inReplyTo: type, ...(inReplyToId === undefined ? {} : { inReplyToId }), value };
  await run.connection.reply(reply).catch(() => undefined);
}
