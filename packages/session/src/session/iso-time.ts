type Written = { readonly at: number; readonly text: string };

const never: Written = { at: Number.NaN, text: '' };
let last = never;
let before = never;

/**
 * An instant as clients see it. To write one is slow, and one decision names two again and again, when it was made and
 * when the session began: so the last two are known.
 */
export function isoTime(at: number): string {
  if (at === last.at) return last.text;
  const written = at === before.at ? before : { at, text: new Date(at).toISOString() };
  before = last;
  last = written;
  return written.text;
}
