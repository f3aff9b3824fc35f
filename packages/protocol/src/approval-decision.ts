import type { Json, JsonObject } from '@concerto/base';

export type Decision = { readonly isApproved: boolean; readonly reason?: string };

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

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
