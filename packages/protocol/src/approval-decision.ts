import type { Json, JsonObject } from '@concerto/base';
import type { RequestOption } from './agent-event.ts';

export type Decision = { readonly isApproved: boolean; readonly reason?: string };

export type Chosen = Decision & {
  /** One of the options that were offered, when the answer named it. */
  readonly option?: RequestOption;
};

const yes = /^(y|yes|true|ok|approved?|allow)$/i;
/** A no, and what may follow it: `no, use git mv`. Of any other text all is the reason. */
const no = /^(?:(?:n|no|false|den(?:y|ied)|refused?|reject(?:ed)?)\b[\s,.:;!–—-]*)?/i;

/** What was answered to an `approval`: everything but a yes is a no, and what is said beside it is why. */
export function readDecision(answer: Json): Decision {
  if (answer === true) return { isApproved: true };
  if (isObject(answer)) {
    const said = [answer.reason, answer.message].find((text) => typeof text === 'string') ?? '';
    const isApproved = answer.approved === true || answer.allowed === true;
    return isApproved || said === '' ? { isApproved } : { isApproved, reason: said };
  }
  if (typeof answer !== 'string') return { isApproved: false };
  const text = answer.trim();
  if (yes.test(text)) return { isApproved: true };
  const reason = text.replace(no, '');
  return reason === '' ? { isApproved: false } : { isApproved: false, reason };
}

/** One of the options by its id or label, or a yes or no; everything that is neither is a no. */
export function chosenOption(answer: Json, options: readonly RequestOption[]): Chosen {
  const option = named(answer, options);
  if (option === undefined) return readDecision(answer);
  const { reason } = readDecision(typeof answer === 'string' ? false : answer);
  return {
    option,
    isApproved: option.kind.startsWith('allow'),
    ...(reason === undefined ? {} : { reason }),
  };
}

function named(answer: Json, options: readonly RequestOption[]): RequestOption | undefined {
  const wanted = isObject(answer) ? (answer.optionId ?? answer.option) : answer;
  // Nothing said is a no, whatever an agent calls its options.
  if (typeof wanted !== 'string' || wanted.trim() === '') return undefined;
  return (
    options.find(({ id }) => id === wanted) ??
    options.find(({ label }) => label.trim().toLowerCase() === wanted.trim().toLowerCase())
  );
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
