const TAB_WIDTH = 4;

/** Columns a terminal needs for the first `length` UTF-16 units of a line. */
export function displayColumns(text: string, length: number): number {
  let columns = 0;
  for (const character of text.slice(0, length)) {
    if (character === '\t') columns += TAB_WIDTH - (columns % TAB_WIDTH);
    else columns += characterWidth(character.codePointAt(0) ?? 0);
  }
  return columns;
}

/** The line as a terminal with tab stops shows it. */
export function expandTabs(text: string): string {
  let result = '';
  let columns = 0;
  for (const character of text) {
    const width =
      character === '\t' ? TAB_WIDTH - (columns % TAB_WIDTH) : characterWidth(character.codePointAt(0) ?? 0);
    result += character === '\t' ? ' '.repeat(width) : character;
    columns += width;
  }
  return result;
}

/** Combining marks take no column, East Asian letters and emoji two. */
function characterWidth(code: number): number {
  if ((code >= 0x300 && code <= 0x36f) || (code >= 0x200b && code <= 0x200d) || (code >= 0xfe00 && code <= 0xfe0f))
    return 0;
  const isWide =
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd);
  return isWide ? 2 : 1;
}
