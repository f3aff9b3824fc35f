const view = new DataView(new ArrayBuffer(8));
const SIGN = 1n << 63n;
const ALL = (1n << 64n) - 1n;

/** A number as 16 hex digits that sort as texts the way the numbers sort. */
export function sortText(sort: number): string {
  // -0 and 0 are one number and must be one text.
  view.setFloat64(0, sort === 0 ? 0 : sort);
  const bits = view.getBigUint64(0);
  const ordered = (bits & SIGN) === 0n ? bits | SIGN : ~bits & ALL;
  return ordered.toString(16).padStart(16, '0');
}

export function sortFromText(text: string): number {
  const ordered = BigInt(`0x${text}`);
  view.setBigUint64(0, (ordered & SIGN) === 0n ? ~ordered & ALL : ordered ^ SIGN);
  return view.getFloat64(0);
}
