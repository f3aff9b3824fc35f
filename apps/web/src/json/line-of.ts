/** The first scalars of an object, enough to recognise it by. What a program emits bare comes as `value`. */
export function lineOf(data: unknown): string {
  if (data === null || typeof data !== 'object') return String(data);
  if (Array.isArray(data)) return `${data.length} items`;
  const entries = Object.entries(data);
  const [first] = entries;
  if (first !== undefined && entries.length === 1 && first[0] === 'value') return scalar(first[1]);
  return entries
    .slice(0, 6)
    .map(([key, value]) => `${key}: ${scalar(value)}`)
    .join('  ');
}

function scalar(value: unknown): string {
  if (Array.isArray(value)) return `[${value.length}]`;
  if (value !== null && typeof value === 'object') return '{…}';
  const text = String(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
