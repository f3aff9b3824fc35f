import type { Json } from '@concerto/base';
import { ClaudeUsageAnswer, type Usage } from '@concerto/protocol';
import type { ClaudeBill } from './claude-translator.ts';

/** What has been paid. The program bills its whole conversation, also what an earlier process of it has spent. */
export class ClaudeAccount {
  #paid: number | undefined;

  constructor(isResumed: boolean) {
    this.#paid = isResumed ? undefined : 0;
  }

  get isKnown(): boolean {
    return this.#paid !== undefined;
  }

  /** The answer to what a conversation that goes on has cost before. */
  began(answer: Json): void {
    const parsed = ClaudeUsageAnswer.safeParse(answer);
    if (parsed.success) this.#paid ??= parsed.data.session.total_cost_usd;
  }

  /** What is new since the last bill; its cost is undefined where nobody knows what was paid before. */
  charge({ usage, totalCost }: ClaudeBill): { readonly usage: Usage; readonly cost: number | undefined } {
    const cost = this.#paid === undefined ? undefined : Math.max(0, totalCost - this.#paid);
    this.#paid = totalCost;
    return { usage: cost === undefined ? usage : { ...usage, costMicroUsd: Math.round(cost * 1e6) }, cost };
  }
}
