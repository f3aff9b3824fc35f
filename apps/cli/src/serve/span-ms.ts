const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Seconds, or a number with its unit. */
export function spanMs(span: number | string): number {
  if (typeof span === 'number') return Math.max(1, Math.round(span * 1_000));
  const [, count = '0', unit = 's'] = /^([\d.]+)([a-z]+)$/.exec(span) ?? [];
  return Math.max(1, Math.round(Number(count) * (units[unit] ?? 1_000)));
}
