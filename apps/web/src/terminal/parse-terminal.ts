/**
 * What a program printed to a terminal, as lines of styled runs. By hand because the libraries for it make HTML, which
 * this page never takes, and know nothing of a line that is written over.
 */
export type TerminalStyle = {
  /** An index of the 16 colours, or a CSS colour of the larger palettes. */
  readonly color?: number | string | undefined;
  readonly background?: number | string | undefined;
  readonly isBold?: boolean | undefined;
  readonly isDim?: boolean | undefined;
  readonly isItalic?: boolean | undefined;
  readonly isUnderlined?: boolean | undefined;
  readonly isInverse?: boolean | undefined;
};
export type TerminalRun = { readonly text: string; readonly style: TerminalStyle };
export type TerminalLine = readonly TerminalRun[];

const plain: TerminalStyle = {};
const escapeCharacter = '\u001b';
/** CSI, OSC (up to its end), and the two-character escapes; also one that the text ends in the middle of. */
const sequence =
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  /\u001b\[([\d;:<=>?]*)([ -/]*)([@-~])?|\u001b[\]P_^X][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]?|\u009b[\d;:]*[@-~]?/y;

export function parseTerminal(text: string): readonly TerminalLine[] {
  return text.split('\n').reduce<{ lines: TerminalLine[]; style: TerminalStyle }>(
    (state, line) => {
      const parsed = parseLine(line, state.style);
      state.lines.push(parsed.runs);
      return { lines: state.lines, style: parsed.style };
    },
    { lines: [], style: plain },
  ).lines;
}

/** One line; a carriage return goes back to its beginning, and what follows is written over what was. */
function parseLine(line: string, from: TerminalStyle): { readonly runs: TerminalLine; readonly style: TerminalStyle } {
  const body = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (!body.includes(escapeCharacter) && !body.includes('\r') && !body.includes('\b')) {
    return { runs: body === '' ? [] : [{ text: body, style: from }], style: from };
  }
  const cells: { text: string; style: TerminalStyle }[] = [];
  let style = from;
  let column = 0;
  for (let at = 0; at < body.length; ) {
    const character = body[at] ?? '';
    if (character === escapeCharacter || character === '\u009b') {
      sequence.lastIndex = at;
      const match = sequence.exec(body);
      at += Math.max(1, match?.[0].length ?? 1);
      if (match?.[3] === 'm' && match[2] === '') style = styled(style, match[1] ?? '');
      else if (match?.[3] === 'K') cells.length = Math.min(cells.length, match[1] === '2' ? 0 : column);
      continue;
    }
    at += 1;
    if (character === '\r') column = 0;
    else if (character === '\b') column = Math.max(0, column - 1);
    else {
      while (cells.length < column) cells.push({ text: ' ', style: plain });
      cells[column] = { text: character, style };
      column += 1;
    }
  }
  return { runs: joined(cells), style };
}

function joined(cells: readonly TerminalRun[]): TerminalLine {
  const runs: { text: string; style: TerminalStyle }[] = [];
  for (const cell of cells) {
    const last = runs.at(-1);
    if (last !== undefined && last.style === cell.style) last.text += cell.text;
    else runs.push({ ...cell });
  }
  return runs;
}

/** The style after one `ESC [ … m`. */
function styled(before: TerminalStyle, parameters: string): TerminalStyle {
  const codes = parameters.split(/[;:]/).map(Number);
  let style = before;
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const { color, used } = largeColor(codes.slice(at + 1));
      style = code === 38 ? { ...style, color } : { ...style, background: color };
      at += used;
    } else style = simple(style, code);
  }
  return style;
}

function simple(style: TerminalStyle, code: number): TerminalStyle {
  if (code >= 30 && code <= 37) return { ...style, color: code - 30 };
  if (code >= 90 && code <= 97) return { ...style, color: code - 82 };
  if (code >= 40 && code <= 47) return { ...style, background: code - 40 };
  if (code >= 100 && code <= 107) return { ...style, background: code - 92 };
  switch (code) {
    case 0:
      return plain;
    case 1:
      return { ...style, isBold: true };
    case 2:
      return { ...style, isDim: true };
    case 3:
      return { ...style, isItalic: true };
    case 4:
      return { ...style, isUnderlined: true };
    case 7:
      return { ...style, isInverse: true };
    case 22:
      return { ...style, isBold: false, isDim: false };
    case 23:
      return { ...style, isItalic: false };
    case 24:
      return { ...style, isUnderlined: false };
    case 27:
      return { ...style, isInverse: false };
    case 39:
      return { ...style, color: undefined };
    case 49:
      return { ...style, background: undefined };
    default:
      return style;
  }
}

/** `5;N` of the 256 colours, `2;R;G;B` of all. */
function largeColor(codes: readonly number[]): { readonly color: number | string | undefined; readonly used: number } {
  const [kind, a = 0, b = 0, c = 0] = codes;
  if (kind === 2) return { color: rgb(a, b, c), used: 4 };
  if (kind !== 5) return { color: undefined, used: 0 };
  if (a < 16) return { color: a, used: 2 };
  if (a >= 232) return { color: rgb(8 + (a - 232) * 10, 8 + (a - 232) * 10, 8 + (a - 232) * 10), used: 2 };
  const level = (n: number): number => (n === 0 ? 0 : 55 + n * 40);
  const cube = a - 16;
  return { color: rgb(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)), used: 2 };
}

function rgb(...levels: readonly number[]): string {
  return `rgb(${levels.map((level) => Math.min(255, Math.max(0, Math.floor(level) || 0))).join(' ')})`;
}

/** What can be read of it, without colours. */
export function terminalText(lines: readonly TerminalLine[]): string {
  return lines.map((runs) => runs.map(({ text }) => text).join('')).join('\n');
}
