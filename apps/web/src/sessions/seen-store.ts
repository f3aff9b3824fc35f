const key = 'concerto.seen';
/** Of so many sessions it is kept how far they were read; the oldest are forgotten first. */
const keptMax = 500;

/** How far a session was read in this browser; 0 for one that was never opened. */
export function seenPosition(id: string): number {
  return stored().get(id) ?? 0;
}

export function keepSeen(id: string, position: number): void {
  const seen = stored();
  if ((seen.get(id) ?? 0) >= position) return;
  seen.delete(id);
  seen.set(id, position);
  try {
    localStorage.setItem(key, JSON.stringify([...seen].slice(-keptMax)));
  } catch {
    // A browser that keeps nothing for us: everything stays unread.
  }
}

function stored(): Map<string, number> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return new Map(Array.isArray(value) ? value.filter(isPair) : []);
  } catch {
    return new Map();
  }
}

function isPair(value: unknown): value is [string, number] {
  return Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'number';
}
