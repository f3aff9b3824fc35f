/** `*` stands for any text; everything else for itself. Linear, since a pattern is a stranger's. */
export function matchesWildcard(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (!text.startsWith(first)) return false;
  if (rest.length === 0) return text === first;
  const last = rest.pop() ?? '';
  let from = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, from);
    if (found < 0) return false;
    from = found + piece.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}
