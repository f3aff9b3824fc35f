/** Shorter texts are too likely to be part of an ordinary word. */
const SHORTEST_SECRET = 6;
const SHOWN = '[secret]';

/** The text with every secret replaced. */
export function redact(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of [...secrets].sort((a, b) => b.length - a.length)) {
    if (secret.length >= SHORTEST_SECRET) shown = shown.replaceAll(secret, SHOWN);
  }
  return shown;
}
