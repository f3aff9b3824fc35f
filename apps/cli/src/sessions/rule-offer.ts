import { harmless } from '@concerto/base';
import type { ConcertoClient } from '@concerto/client';
import { canBeKnownAgain, isAnyCall, rememberedText, type SuspendEvent } from '@concerto/protocol';
import type { AnswerIn } from './response-of.ts';

/** An answer that adds a rule, and what it goes to. */
export type OfferedRule = {
  readonly session: string;
  readonly request: SuspendEvent;
  readonly answer: AnswerIn;
};

/** What the next line says to it. */
type Said =
  | { readonly kind: 'nothing-offered' }
  | { readonly kind: 'added'; readonly offered: OfferedRule }
  | { readonly kind: 'left' };

export const howToAdd = 'Enter or y answers so and adds this rule, anything else leaves it';

/** A rule that is shown before it is added: the next line adds it, or leaves it. */
export class RuleOffer {
  #offered: OfferedRule | undefined;

  get isOpen(): boolean {
    return this.#offered !== undefined;
  }

  show(offered: OfferedRule): void {
    this.#offered = offered;
  }

  leave(): void {
    this.#offered = undefined;
  }

  /** Whatever the line says, nothing is offered after it. */
  hear(line: string): Said {
    const offered = this.#offered;
    this.leave();
    if (offered === undefined) return { kind: 'nothing-offered' };
    return /^(|y|yes)$/i.test(line.trim()) ? { kind: 'added', offered } : { kind: 'left' };
  }
}

export async function answerOffered(client: ConcertoClient, { session, request, answer }: OfferedRule): Promise<void> {
  await client.answer(session, request.requestId, answer.response, answer.remember);
}

/** What would be answered by itself from now on; undefined where the answer adds no rule for good. */
export function ruleText(event: SuspendEvent, { response, remember }: AnswerIn): string | undefined {
  // What cannot be known again is refused by the server, which says why.
  if (remember.remember !== 'always' || event.type !== 'queryConsent' || !canBeKnownAgain(event)) return undefined;
  const what = harmless(rememberedText(event)).replaceAll('\n', ' ⏎ ');
  const whatever = isAnyCall(event) ? ', whatever it is given' : '';
  return `${response === true ? 'allowed' : 'denied'} from now on in every session of this agent: ${what}${whatever}`;
}
