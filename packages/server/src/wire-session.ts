import { createHash } from 'node:crypto';
import type { Json } from '@concerto/base';
import {
  type LlmContent,
  MessageId,
  type MessagePriority,
  type Part,
  SessionId,
  type StartSession,
  type SuspendEvent,
  textOf,
} from '@concerto/protocol';
import type { Caller, Sessions } from '@concerto/runtime';
import { cancelledAnswer, type GivenAnswer, type Narration, readAnswer } from '@concerto/wires';
import type { Context } from 'hono';
import * as z from 'zod';
import { callerOf, requireRole } from './people/check-role.ts';
import type { KnownPerson } from './people/people.ts';
import { ProblemError } from './problem.ts';
import { granted } from './routes/session-routes.ts';
import type { OnNode, ServerContext } from './server-context.ts';

/** Who does something to a session over a wire. */
export type Speaker = {
  readonly sessions: Sessions;
  readonly person: KnownPerson;
  readonly caller: Caller;
};

/** For what is more than reading: whoever may only follow is refused. */
export function speakerOf({ sessions }: ServerContext, c: Context<OnNode>): Speaker {
  const person = c.get('person');
  requireRole(person, 'agent', 'to say something');
  return { sessions, person, caller: callerOf(c, undefined) };
}

/** Something that a user said, by the id under which the session's queue knows it. */
export type Word = { readonly id: string; readonly content: string | LlmContent };

export async function sendAll(
  { sessions, caller }: Speaker,
  session: string,
  words: readonly Word[],
  priority: MessagePriority = 'queued',
): Promise<void> {
  for (const { id, content } of words) {
    granted(await sessions.send(session, { id: MessageId.parse(id), content, priority }, caller));
  }
}

/** Answers already given by somebody else count; whoever came second hears of it in what follows. */
const settledCodes: ReadonlySet<string> = new Set(['already_answered', 'withdrawn']);

export async function answerFrom(
  { sessions, person, caller }: Speaker,
  target: { readonly session: string; readonly request: string },
  given: 'cancelled' | { readonly payload: Json },
): Promise<void> {
  requireRole(person, 'member', 'to answer');
  const open = await sessions.requests(target.session);
  const event = open?.requests.find(({ requestId }) => requestId === target.request)?.event;
  const answer = answerOf(event, given);
  if (answer.remember === 'always') requireRole(person, 'owner', '`remember: "always"`');
  const outcome = await sessions.answer(target, { ...answer, equalIsRepeat: true }, caller);
  if (!outcome.ok && settledCodes.has(outcome.error.code)) return;
  granted(outcome);
}

function answerOf(event: SuspendEvent | undefined, given: 'cancelled' | { readonly payload: Json }): GivenAnswer {
  if (given === 'cancelled') return event === undefined ? { response: null } : cancelledAnswer(event);
  return event === undefined ? { response: given.payload } : readAnswer(event, given.payload);
}

/** What a caller may say about the session that it begins, beside its wire's own words. */
export const Target = z.object({
  agent: z.string().optional(),
  program: z.string().optional(),
  assistant: z.string().optional(),
  template: z.string().optional(),
});
export type Target = z.infer<typeof Target>;

/** Begins a session with what was said; several messages are one prompt, under the id of the first. */
export async function startWith(
  { sessions, caller }: Speaker,
  id: string,
  words: readonly Word[],
  named: Target,
): Promise<string> {
  const [first] = words;
  if (first === undefined) {
    throw new ProblemError(422, 'invalid_body', '`messages`: a new session begins with a message of the user');
  }
  const target = Object.keys(named).length > 0 ? named : await firstTarget(sessions);
  const request = { ...target, prompt: wholePrompt(words), id: SessionId.parse(id), ifFull: 'queue' } as const;
  granted(await sessions.start({ ...request, messageId: first.id }, caller));
  return first.id;
}

/** Several words as one. */
function wholePrompt(words: readonly Word[]): string | LlmContent {
  const contents = words.map(({ content }) => content);
  if (contents.every((content) => typeof content === 'string')) return contents.join('\n\n');
  const parts = contents.flatMap((content): Part[] =>
    typeof content === 'string' ? [{ text: content }] : content.parts,
  );
  return { role: 'user', parts };
}

/** A client's own id where it can be ours too, else one that is made from it. */
export function ownId(schema: typeof SessionId | typeof MessageId, id: string): string {
  if (schema.safeParse(id).success) return id;
  return `w_${createHash('sha256').update(id).digest('base64url').slice(0, 24)}`;
}

/** What a client says that the user said; `content` is undefined when there is something in it that cannot be taken. */
export type Spoken = { readonly id: string; readonly content: string | LlmContent | undefined };

/** Of what a client says the user said, what is new; and the ids under which the session has all of it. */
export type Heard = { readonly words: readonly Word[]; readonly ids: readonly string[] };

export function hear(spoken: readonly Spoken[], narration: Narration): Heard {
  const known = spoken.map(({ id, content }) => ({ id: ownId(MessageId, id), content }));
  const ids = known.map(({ id }) => id);
  if (isFirstPrompt(known, narration)) return { words: [], ids: ids.slice(0, 1) };
  return { words: known.filter((each) => !isHeard(each, narration)).map(wordOf), ids };
}

/** Several words that began the session are one prompt there, under the id of the first. */
function isFirstPrompt(spoken: readonly Spoken[], narration: Narration): boolean {
  const [first] = spoken;
  const words = spoken.flatMap(({ id, content }) => (content === undefined ? [] : [{ id, content }]));
  if (first === undefined || words.length < 2 || words.length < spoken.length) return false;
  return first.id === narration.firstMessage && narration.hasHeardAs(first.id, plainText(wholePrompt(words)));
}

/** What was heard stands: whoever has changed it since is told so. */
function isHeard({ id, content }: Spoken, narration: Narration): boolean {
  if (!narration.hasHeard(id)) return false;
  if (content === undefined || narration.hasHeardAs(id, plainText(content))) return true;
  const detail = `message ${JSON.stringify(id)} was heard in other words, which cannot be taken back: say it under an id of its own`;
  throw new ProblemError(409, 'id_in_use', detail);
}

function plainText(content: string | LlmContent): string {
  return typeof content === 'string' ? content : textOf(content);
}

export function wordOf({ id, content }: Spoken): Word {
  if (content === undefined) {
    throw new ProblemError(
      422,
      'unsupported_content',
      'a message of the user is text and files; other parts cannot be taken',
    );
  }
  if (content === '' || (typeof content === 'string' && content.trim() === '')) {
    throw new ProblemError(422, 'invalid_content', 'a message of the user must not be empty');
  }
  return { id: ownId(MessageId, id), content };
}

/** It was read from JSON. */
export function jsonOf(value: unknown): Json {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}

/** What is started when the caller names nothing: the first that there is. */
async function firstTarget(sessions: Sessions): Promise<Pick<StartSession, 'agent' | 'program' | 'assistant'>> {
  const [first] = await sessions.agents();
  if (first === undefined) throw new ProblemError(422, 'no_such_agent', 'there is no agent to start');
  return { [first.kind]: first.name };
}
