import { beginningOfText, firstOfText } from '@concerto/base';
import type { Usage, UsageSource } from '@concerto/protocol';
import type { Said } from './assistant-history.ts';
import type { AssistantSpec } from './assistant-spec.ts';
import { usageOf } from './reply-usage.ts';

/** Of one thing that was said, and of all of it, for whoever sums it up. */
const quotedMax = 4_000;
const transcriptMax = 120_000;
const summaryTokensMax = 2_000;

const instructions =
  'You shorten a conversation between a user, an assistant and its functions, so that the assistant can go on without it. Write what was asked, what was decided, what was found out (names, numbers, paths), what was changed, and what is still to be done. No greeting, no comment.';

/** The beginning of a conversation in a few words, with the tasks in the user's own. */
export async function summaryOf(
  older: readonly Said[],
  {
    spec,
    signal,
    used,
  }: {
    readonly spec: AssistantSpec;
    readonly signal: AbortSignal;
    readonly used: (usage: Usage, source: UsageSource) => void;
  },
): Promise<string> {
  const tasks = older.flatMap((one) => (one.kind === 'user' ? [one.text] : []));
  const [first = ''] = tasks;
  const last = tasks.at(-1) ?? '';
  return [
    '[What was said before is shortened to this.]',
    `The first task:\n${cut(first)}`,
    ...(tasks.length > 1 ? [`The latest task:\n${cut(last)}`] : []),
    `What happened since:\n${await told(older, { spec, signal, used })}`,
  ].join('\n\n');
}

async function told(older: readonly Said[], { spec, signal, used }: Parameters<typeof summaryOf>[1]): Promise<string> {
  try {
    const { connection, model, models } = spec;
    const messages = [
      { role: 'system', content: instructions } as const,
      { role: 'user', content: transcriptOf(older) } as const,
    ];
    const reply = await models.execute({ connection, model, messages, maxTokens: summaryTokensMax, signal });
    used(usageOf(reply), { model: reply.model });
    if (reply.text.trim() !== '') return reply.text.trim();
  } catch (cause) {
    signal.throwIfAborted();
    return `(no summary could be made: ${cause instanceof Error ? cause.message : String(cause)})\n${transcriptOf(older, quotedMax)}`;
  }
  return transcriptOf(older, quotedMax);
}

/** Of too much the beginning and the end. */
function transcriptOf(said: readonly Said[], max = transcriptMax): string {
  const text = said.map(lineOf).join('\n');
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  return `${firstOfText(text, half)}\n[…]\n${text.slice(-half).replace(/^[\udc00-\udfff]/, '')}`;
}

function lineOf(one: Said): string {
  switch (one.kind) {
    case 'user':
    case 'system':
      return `${one.kind === 'user' ? 'User' : 'System'}: ${cut(one.text)}`;
    case 'model':
      return [
        `Assistant: ${cut(one.text)}`,
        ...one.calls.map(({ name, args }) => `Call ${name} ${cut(JSON.stringify(args))}`),
      ].join('\n');
    case 'results':
      return one.results.map(({ name, text }) => `Result of ${name}: ${cut(text)}`).join('\n');
  }
}

function cut(text: string): string {
  return beginningOfText(text, quotedMax);
}
