/** The text before a position in `{...,"seq":N}`: an object without its closing brace, with a comma unless it is empty. */
export function stampPrefix(data: string): string {
  const body = data.slice(0, data.lastIndexOf('}'));
  // Only an empty object has its opening brace directly before its closing one.
  return body.trimEnd().endsWith('{') ? `${body}"seq":` : `${body},"seq":`;
}

/** Puts the position into the text of a JSON object: `{...}` becomes `{...,"seq":N}`, `{}` becomes `{"seq":N}`. */
export function stampSeq(data: string, position: number): string {
  return `${stampPrefix(data)}${position}}`;
}
