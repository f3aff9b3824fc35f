const codes = { bold: '1', dim: '2', red: '31', green: '32', yellow: '33' } as const;

/** Colour, only for a person at a terminal who has not asked for none. */
export function paint(style: keyof typeof codes, text: string): string {
  if (!process.stdout.isTTY || process.env.NO_COLOR !== undefined) return text;
  return `\u001b[${codes[style]}m${text}\u001b[0m`;
}
