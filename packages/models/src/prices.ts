import * as z from 'zod';
import type { ModelUsage } from './model-turn.ts';

/** US dollars for a million tokens. */
type Price = {
  readonly input: number;
  readonly cachedInput?: number;
  readonly output: number;
  /** Input tokens from which another price may hold. */
  readonly below?: number;
};

/**
 * List prices of the providers for plain requests, compared on 2026-11-15 with
 * - https://platform.claude.com/docs/en/about-claude/pricing for Anthropic,
 * - https://developers.openai.com/api/docs/models/gpt-5-nano.md for gpt-5-nano; for the other models of OpenAI with
 *   what GitHub (docs: models-and-pricing.yml), Vercel (AI Gateway) and Helicone quote as its list prices,
 * - what OpenRouter and others quote as Google's list prices; Google's own page was not at hand. Of gemini-2.0-flash
 *   they quote different prices, so it is not here.
 *
 * Only models whose price does not depend on more than the number of tokens are here; for any other the cost is unknown,
 * which is better than wrong.
 */
const PRICES: Readonly<Record<string, Readonly<Record<string, Price>>>> = {
  openai: {
    'gpt-4o': { input: 2.5, cachedInput: 1.25, output: 10 },
    'gpt-4o-mini': { input: 0.15, cachedInput: 0.075, output: 0.6 },
    'gpt-4.1': { input: 2, cachedInput: 0.5, output: 8 },
    'gpt-4.1-mini': { input: 0.4, cachedInput: 0.1, output: 1.6 },
    'gpt-4.1-nano': { input: 0.1, cachedInput: 0.025, output: 0.4 },
    'gpt-5': { input: 1.25, cachedInput: 0.125, output: 10 },
    'gpt-5-mini': { input: 0.25, cachedInput: 0.025, output: 2 },
    'gpt-5-nano': { input: 0.05, cachedInput: 0.005, output: 0.4 },
    'o4-mini': { input: 1.1, cachedInput: 0.275, output: 4.4 },
  },
  anthropic: {
    'claude-opus-4-1': { input: 15, cachedInput: 1.5, output: 75 },
    'claude-opus-4-5': { input: 5, cachedInput: 0.5, output: 25 },
    'claude-opus-4-6': { input: 5, cachedInput: 0.5, output: 25 },
    'claude-opus-4-7': { input: 5, cachedInput: 0.5, output: 25 },
    'claude-opus-4-8': { input: 5, cachedInput: 0.5, output: 25 },
    'claude-opus-5': { input: 5, cachedInput: 0.5, output: 25 },
    'claude-sonnet-4-5': { input: 3, cachedInput: 0.3, output: 15, below: 200_000 },
    'claude-sonnet-4-6': { input: 3, cachedInput: 0.3, output: 15, below: 200_000 },
    'claude-haiku-4-5': { input: 1, cachedInput: 0.1, output: 5 },
    'claude-3-5-haiku': { input: 0.8, cachedInput: 0.08, output: 4 },
  },
  google: {
    'gemini-2.5-flash': { input: 0.3, output: 2.5 },
    'gemini-2.5-flash-lite': { input: 0.1, output: 0.4 },
  },
};

const TOKENS = 1_000_000;
/** `gpt-4o-2024-08-06`, `claude-haiku-4-5-20251001`: the same model, dated. */
const DATE_SUFFIX = /-(\d{8}|\d{4}-\d{2}-\d{2})$/;

/** By the name of the model; they count before the list prices. */
export type Prices = Readonly<Record<string, Price>>;

/** Undefined when the price of the model, or of tokens from the cache, is not known. */
export function costOf(provider: string, model: string, usage: ModelUsage, own: Prices = {}): number | undefined {
  const table = PRICES[provider === 'openai-responses' ? 'openai' : provider];
  const price = priceIn(own, model) ?? priceIn(table, model);
  if (price === undefined) return undefined;
  const { cachedInputTokens: cached, inputTokens, outputTokens } = usage;
  if (cached > 0 && price.cachedInput === undefined) return undefined;
  if (price.below !== undefined && inputTokens >= price.below) return undefined;
  const input = (inputTokens - cached) * price.input + cached * (price.cachedInput ?? 0);
  return (input + outputTokens * price.output) / TOKENS;
}

function priceIn(table: Prices | undefined, model: string): Price | undefined {
  const known = (name: string): Price | undefined =>
    table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
  return known(model) ?? known(model.replace(DATE_SUFFIX, ''));
}

const Table = z.record(
  z.string(),
  z.object({ input: z.number(), output: z.number(), cached_input: z.number().optional() }),
);

/** `[prices]` of a manifest, as it is or as a compiled program has it; what is none has no price. */
export function readPrices(table: unknown): Prices {
  const parsed = Table.safeParse(table);
  if (!parsed.success) return {};
  return Object.fromEntries(
    Object.entries(parsed.data).map(([model, { cached_input: cachedInput, ...price }]) => [
      model,
      { ...price, ...(cachedInput === undefined ? {} : { cachedInput }) },
    ]),
  );
}

/** The same for a model whose provider nobody tells, as agents do not. */
export function estimatedCost(
  model: string,
  usage: Omit<ModelUsage, 'totalTokens'>,
  own: Prices = {},
): number | undefined {
  const whole = { ...usage, totalTokens: usage.inputTokens + usage.outputTokens };
  for (const provider of Object.keys(PRICES)) {
    const cost = costOf(provider, model, whole, own);
    if (cost !== undefined) return cost;
  }
  return undefined;
}
