import type { Json } from '@concerto/base';
import { type ClaudeResult, ClaudeUsageAnswer, type Usage, type UsageSource } from '@concerto/protocol';

export type ClaudeCharge = { readonly kind: 'usage'; readonly usage: Usage; readonly source: UsageSource };

type Tokens = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
};

const none: Tokens = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/**
 * What has been used and paid. The program bills its whole conversation: the cost also of what an earlier process has
 * spent, the tokens of all its models and sub-agents since it was started.
 */
export class ClaudeAccount {
  #paid: number | undefined;
  /** Of a conversation that goes on, the first bill may hold what an earlier process has used. */
  #isResumed: boolean;
  readonly #used = new Map<string, Tokens & { readonly cost: number }>();

  constructor(isResumed: boolean) {
    this.#paid = isResumed ? undefined : 0;
    this.#isResumed = isResumed;
  }

  get isKnown(): boolean {
    return this.#paid !== undefined;
  }

  /** The answer to what a conversation that goes on has cost before. */
  began(answer: Json): void {
    const parsed = ClaudeUsageAnswer.safeParse(answer);
    if (parsed.success) this.#paid ??= parsed.data.session.total_cost_usd;
  }

  /** The answer to what was used up to now, in the middle of a turn; an older program tells too little for that. */
  interim(answer: Json): readonly ClaudeCharge[] {
    const parsed = ClaudeUsageAnswer.safeParse(answer);
    if (!parsed.success || this.#isResumed || this.#paid === undefined) return [];
    const { total_cost_usd, model_usage: modelUsage = {} } = parsed.data.session;
    if (Object.keys(modelUsage).length === 0) return [];
    return this.charge({ type: 'result', subtype: 'success', total_cost_usd, modelUsage }, undefined).filter(isSome);
  }

  /** What is new since the last bill, for each model; `used` is how full the window of the first of them is. */
  charge(result: ClaudeResult, used: number | undefined): readonly ClaudeCharge[] {
    const total = result.total_cost_usd ?? 0;
    // Where nobody knows what was paid before, the first bill is none.
    const cost = this.#paid === undefined ? undefined : Math.max(0, total - this.#paid);
    this.#paid = total;
    const models = this.#models(result, used !== undefined);
    const isTurnAlone = this.#isResumed || (models.length === 0 && result.modelUsage === undefined);
    this.#isResumed = false;
    if (isTurnAlone) return [{ kind: 'usage', usage: withCost(tokensOf(result), cost), source: {} }];
    const [only] = models;
    return models.map(({ model, tokens, own, size }) => ({
      kind: 'usage',
      usage: withCost(tokens, models.length === 1 && only !== undefined ? cost : own),
      source: {
        model,
        ...(size === undefined || used === undefined || model !== only?.model ? {} : { context: { used, size } }),
      },
    }));
  }

  /** Those that have used something since; the first also for how full its window is. */
  #models({ modelUsage = {} }: ClaudeResult, isFirstTold: boolean) {
    return Object.entries(modelUsage).flatMap(([model, told], index) => {
      const before = this.#used.get(model) ?? { ...none, cost: 0 };
      const cacheReadTokens = told.cacheReadInputTokens ?? 0;
      const cacheWriteTokens = told.cacheCreationInputTokens ?? 0;
      const now = {
        inputTokens: (told.inputTokens ?? 0) + cacheReadTokens + cacheWriteTokens,
        outputTokens: told.outputTokens ?? 0,
        cacheReadTokens,
        cacheWriteTokens,
        cost: told.costUSD ?? 0,
      };
      this.#used.set(model, now);
      const tokens = {
        inputTokens: Math.max(0, now.inputTokens - before.inputTokens),
        outputTokens: Math.max(0, now.outputTokens - before.outputTokens),
        cacheReadTokens: Math.max(0, cacheReadTokens - before.cacheReadTokens),
        cacheWriteTokens: Math.max(0, cacheWriteTokens - before.cacheWriteTokens),
      };
      const own = Math.max(0, now.cost - before.cost);
      const isNothing = tokens.inputTokens === 0 && tokens.outputTokens === 0 && own === 0;
      if (isNothing && !(isFirstTold && index === 0)) return [];
      return [{ model, tokens, own, size: told.contextWindow }];
    });
  }
}

function isSome({ usage: { inputTokens, outputTokens, costMicroUsd = 0 } }: ClaudeCharge): boolean {
  return inputTokens > 0 || outputTokens > 0 || costMicroUsd > 0;
}

/** Of the turn alone, without its sub-agents: an older program tells no more. */
function tokensOf({ usage = {} }: ClaudeResult): Tokens {
  const cacheReadTokens = usage.cache_read_input_tokens ?? 0;
  const cacheWriteTokens = usage.cache_creation_input_tokens ?? 0;
  return {
    // The program counts what it has from its cache apart.
    inputTokens: (usage.input_tokens ?? 0) + cacheReadTokens + cacheWriteTokens,
    outputTokens: usage.output_tokens ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
  };
}

function withCost(tokens: Tokens, cost: number | undefined): Usage {
  return cost === undefined ? tokens : { ...tokens, costMicroUsd: Math.round(cost * 1e6) };
}
