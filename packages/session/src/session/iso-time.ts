/** An instant as clients see it. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}
