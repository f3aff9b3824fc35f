import type { Json } from '@concerto/base';
import { type AnswerRequest, type Choice, type SuspendEvent, textOf } from '@concerto/protocol';

/** What stands before the answer. */
export function promptOf(event: SuspendEvent): string {
  if (isBudget(event)) return 'more? [y: as much again, n: stop, or tokens=1000] ';
  if (event.type === 'queryConsent') return 'approve? [y/n, or why not] ';
  if (event.type !== 'waitForChoice') return 'your answer: ';
  return event.selectionMode === 'multiple'
    ? 'your choices (numbers, with commas): '
    : 'your choice (number or text): ';
}

/** `y always` and `no session` are a decision and how long it holds; anything else is what it was. */
export function rememberedIn(
  event: SuspendEvent,
  line: string,
): { readonly given: string; readonly remember: Pick<AnswerRequest, 'remember'> } {
  const [, given, word] = /^(y|yes|n|no)\s+(?:for this )?(session|always)$/i.exec(line) ?? [];
  if (event.type !== 'queryConsent' || given === undefined) return { given: line, remember: {} };
  return { given, remember: { remember: word?.toLowerCase() === 'always' ? 'always' : 'session' } };
}

/** What a person typed, in the form that the question wants. */
export function responseOf(event: SuspendEvent, given: string): Json {
  if (isBudget(event)) return moreOf(given);
  if (event.type === 'queryConsent') {
    if (/^(y|yes|true|1)$/i.test(given)) return true;
    const chosen = (event.options ?? []).find(({ id, label }) => isSame(id, given) || isSame(label, given));
    if (chosen !== undefined) return chosen.id;
    // Any other text is a no, and why.
    return /^(|n|no|false|0)$/i.test(given) ? false : given;
  }
  if (event.type === 'waitForChoice') {
    const words = event.selectionMode === 'multiple' ? given.split(',') : [given];
    const chosen = words.map((word) => choiceOf(event.choices, word.trim()));
    if (chosen.every((choice) => choice !== undefined)) return { selected: chosen.map(({ id }) => id) };
  }
  return { input: { role: 'user', parts: [{ text: given }] } };
}

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

function choiceOf(choices: readonly Choice[], given: string): Choice | undefined {
  return choices[Number(given) - 1] ?? choices.find((candidate) => isSame(textOf(candidate.content), given));
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
