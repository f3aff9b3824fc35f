import type { Usage } from '@concerto/protocol';

/** `12.3k in, 800 out · $0.12`; undefined where nothing was used. */
export function usageText({ inputTokens, outputTokens, costMicroUsd }: Usage): string | undefined {
  if (inputTokens + outputTokens === 0) return undefined;
  const tokens = `${tokensText(inputTokens)} in, ${tokensText(outputTokens)} out`;
  return costMicroUsd === undefined ? tokens : `${tokens} · ${dollarsText(costMicroUsd)}`;
}

export function tokensText(count: number): string {
  if (count < 1000) return String(count);
  if (count < 1_000_000) return `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

export function dollarsText(micro: number): string {
  return `$${(micro / 1_000_000).toFixed(micro < 10_000 ? 4 : 2)}`;
}
