/** `45 s`, `3 min`, `2 h`, `5 d`: one unit, rounded down, as a person says it. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** `8 ms`, `1.4 s`: how long something small took. */
export function tookText(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

export function ageText(at: string, now: number): string {
  const ms = now - Date.parse(at);
  return ms < 5000 ? 'just now' : `${durationText(ms)} ago`;
}

export function clockText(at: string): string {
  return new Date(at).toLocaleTimeString(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
}

/** By the clock, and of another day than this one with its day. */
export function dayClockText(at: string, now: number): string {
  const then = new Date(at);
  const today = new Date(now);
  if (then.toDateString() === today.toDateString()) return clockText(at);
  const year = then.getFullYear() === today.getFullYear() ? {} : ({ year: 'numeric' } as const);
  return `${then.toLocaleDateString(undefined, { month: 'short', day: 'numeric', ...year })}, ${clockText(at)}`;
}

export function momentText(at: string): string {
  return new Date(at).toLocaleString();
}
