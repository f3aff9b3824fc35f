import type { Json } from '@concerto/base';
import { type Decision, type RequestOption, readDecision } from '@concerto/protocol';
import { memberOf } from './json-member.ts';

export type Chosen = Decision & {
  /** One of the options that were offered, when the answer named it. */
  readonly option?: RequestOption;
};

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
  const wanted = typeof answer === 'string' ? answer : optionIn(answer);
  // Nothing said is a no, whatever an agent calls its options.
  if (typeof wanted !== 'string' || wanted.trim() === '') return undefined;
  return (
    options.find(({ id }) => id === wanted) ??
    options.find(({ label }) => label.trim().toLowerCase() === wanted.trim().toLowerCase())
  );
}

function optionIn(answer: Json): Json | undefined {
  return memberOf(answer, 'optionId') ?? memberOf(answer, 'option');
}
