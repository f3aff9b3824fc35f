const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** The milliseconds of `500ms`, `90s`, `1h 30m`, `3d`; undefined when the text is no length of time. */
export function parseDuration(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?\s*(?:ms|[smhdw])\s*)+$/.test(text.trim())) return undefined;
  let sum = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)\s*(ms|[smhdw])/g)) {
    sum += Number(amount) * (UNITS[unit ?? ''] ?? 0);
  }
  return Number.isSafeInteger(Math.round(sum)) ? Math.round(sum) : undefined;
}

/** For people, in the largest unit that has no rest: `10 minutes`, `1 hour`. */
export function spanText(ms: number): string {
  const units = [
    [86_400_000, 'days'],
    [3_600_000, 'hours'],
    [60_000, 'minutes'],
  ] as const;
  const [size, unit] = units.find(([length]) => ms >= length && ms % length === 0) ?? ([1_000, 'seconds'] as const);
  const count = ms / size;
  return `${count} ${count === 1 ? unit.slice(0, -1) : unit}`;
}
