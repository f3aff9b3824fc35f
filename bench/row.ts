/** One line of the table: ours against a reference taken in the same run on the same machine. */
export type Row = {
  readonly name: string;
  readonly ours: number;
  readonly reference: number;
  readonly unit: string;
  /** ours / reference, as a person would read the target. */
  readonly ratio: number;
  /** `>= 0.70`, `<= 1.5`; what the ratio should be. */
  readonly target?: string;
  /** Half the distance between the quartiles, as a part of the median. */
  readonly spread: number;
};

export type Benchmark = { readonly name: string; run(): Promise<readonly Row[]> };

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

export function spreadOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const low = sorted[Math.floor((sorted.length - 1) / 4)] ?? 0;
  const high = sorted[Math.ceil(((sorted.length - 1) * 3) / 4)] ?? 0;
  return median(sorted) === 0 ? 0 : (high - low) / 2 / median(sorted);
}

/**
 * Measures both in turn, so that what else the machine does hits them alike; at least five rounds after one to warm
 * up. Both functions return a rate or a duration, in the same unit.
 */
export async function compare(
  row: { readonly name: string; readonly unit: string; readonly target?: string },
  measure: { readonly ours: () => Promise<number> | number; readonly reference: () => Promise<number> | number },
  rounds = 5,
): Promise<Row> {
  await measure.reference();
  await measure.ours();
  const ours: number[] = [];
  const reference: number[] = [];
  for (let round = 0; round < rounds; round++) {
    reference.push(await measure.reference());
    ours.push(await measure.ours());
  }
  const ratios = ours.map((value, index) => value / (reference[index] ?? Number.NaN));
  return { ...row, ours: median(ours), reference: median(reference), ratio: median(ratios), spread: spreadOf(ratios) };
}

export function meetsTarget(row: Row): boolean | undefined {
  const match = /^(>=|<=)\s*([\d.]+)/.exec(row.target ?? '');
  if (match === null) return undefined;
  return match[1] === '>=' ? row.ratio >= Number(match[2]) : row.ratio <= Number(match[2]);
}
