import type { Json } from '@concerto/base';
import { type AnswerRequest, type Choice, type SuspendEvent, textOf } from '@concerto/protocol';
import { isLong } from './change-text.ts';

/** What stands before the answer. */
export function promptOf(event: SuspendEvent): string {
  if (isBudget(event)) return 'more? [y: as much again, n: stop, or tokens=1000] ';
  if (event.type === 'queryConsent')
    return `approve? [y/n, or why not${isLong(event.changes ?? []) ? '; /more shows all of it' : ''}] `;
  if (event.type !== 'waitForChoice') return 'your answer: ';
  return event.selectionMode === 'multiple'
    ? 'your choices (numbers, with commas): '
    : 'your choice (number or text): ';
}

export type AnswerIn = { readonly response: Json; readonly remember: Pick<AnswerRequest, 'remember'> };

/** What a line says to a question, and how long it holds. Throws, with what can be chosen, where it is a slip. */
export function answerIn(event: SuspendEvent, line: string): AnswerIn {
  const { given, remember } = rememberedIn(event, line);
  return { response: responseOf(event, given), remember };
}

/** `y always` and `no session` are a decision and how long it holds; anything else is what it was. */
function rememberedIn(
  event: SuspendEvent,
  line: string,
): { readonly given: string; readonly remember: Pick<AnswerRequest, 'remember'> } {
  const [, given, word] = /^(y|yes|n|no)\s+(?:for this )?(session|always)$/i.exec(line) ?? [];
  if (event.type !== 'queryConsent' || given === undefined) return { given: line, remember: {} };
  return { given, remember: { remember: word?.toLowerCase() === 'always' ? 'always' : 'session' } };
}

/** What a person typed, in the form that the question wants. */
function responseOf(event: SuspendEvent, given: string): Json {
  if (isBudget(event)) return moreOf(given);
  if (event.type === 'queryConsent') {
    if (/^(y|yes|true|1)$/i.test(given)) return true;
    const chosen = (event.options ?? []).find(({ id, label }) => isSame(id, given) || isSame(label, given));
    if (chosen !== undefined) return chosen.id;
    // Any other text is a no, and why.
    return /^(|n|no|false|0)$/i.test(given) ? false : given;
  }
  return event.type === 'waitForChoice' ? choiceIn(event, given) : inWords(given);
}

function inWords(text: string): Json {
  return { input: { role: 'user', parts: [{ text }] } };
}

/** Their numbers or texts, or words of one's own: a number that is none of them is a slip, and in quotes it is meant. */
function choiceIn({ choices, selectionMode }: Extract<SuspendEvent, { type: 'waitForChoice' }>, given: string): Json {
  const numbers = choices.length > 2 ? `1 to ${choices.length}` : choices.map((_, index) => index + 1).join(' or ');
  const parts = given.split(',').map((part) => part.trim());
  const words = selectionMode === 'multiple' ? parts.filter((part) => part !== '') : [given];
  const chosen = words.map((word) => ({ word, choice: choiceOf(choices, word) }));
  if (given === '' || words.length === 0) throw new Error(`write ${numbers}, or what you choose in words`);
  const selected = chosen.flatMap(({ choice }) => (choice === undefined ? [] : [choice.id]));
  if (selected.length === words.length) return { selected: [...new Set(selected)] };
  if (selectionMode === 'single' && parts.length > 1 && parts.every((part) => wholeNumber.test(part)))
    throw new Error(`only one can be chosen: ${numbers}`);
  const beyond = chosen.find(({ word, choice }) => choice === undefined && wholeNumber.test(word))?.word;
  if (beyond !== undefined)
    throw new Error(`there is no choice ${beyond}: write ${numbers}, or "${beyond}" in quotes if it is meant as text`);
  return inWords(/^"([-+]?\d+)"$/.exec(given)?.[1] ?? given);
}

const wholeNumber = /^[-+]?\d+$/;

function isBudget(event: SuspendEvent): boolean {
  return event.type === 'queryConsent' && event.consentType === 'budget';
}

/** What is no answer goes as it is: the server says what would be. */
function moreOf(given: string): Json {
  if (/^(y|yes|more)$/i.test(given)) return 'more';
  if (/^(n|no|stop)$/i.test(given)) return 'stop';
  const amounts = given
    .replace(/^more\s+/i, '')
    .split(',')
    .map((part) => part.trim());
  const pairs = amounts.map((part) => /^(usd|tokens|turns|minutes)\s*=\s*([\d.]+)$/.exec(part));
  if (pairs.some((pair) => pair === null)) return given;
  return { more: Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', Number(pair?.[2])])) };
}

/** By its text before its number: of the choices 1, 2, 4 and 8, a 4 means the third. */
function choiceOf(choices: readonly Choice[], given: string): Choice | undefined {
  const named = choices.find((candidate) => isSame(textOf(candidate.content), given));
  return named ?? (/^\d+$/.test(given) ? choices[Number(given) - 1] : undefined);
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
