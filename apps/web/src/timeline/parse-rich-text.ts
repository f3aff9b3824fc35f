export type TextBlock =
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly start: number; readonly items: readonly string[] };

export type Span =
  | { readonly kind: 'text' | 'code' | 'strong'; readonly text: string }
  | { readonly kind: 'link'; readonly text: string; readonly href: string };

const bullet = /^\s*[-*•]\s+(.*)$/;
const numbered = /^\s*(\d{1,9})[.)]\s+(.*)$/;
const heading = /^(#{1,6})\s+(.*)$/;
const fence = /^\s*(```+|~~~+)\s*([\w+#.-]*)\s*$/;

/** Cuts a text into blocks. Line ends inside a paragraph are kept: agents mean them. Any text gives some blocks. */
export function textBlocksOf(text: string): readonly TextBlock[] {
  const lines = text.split('\n');
  const blocks: TextBlock[] = [];
  let paragraph: string[] = [];
  const endParagraph = (): void => {
    const joined = paragraph.join('\n').trimEnd();
    if (joined.trim() !== '') blocks.push({ kind: 'paragraph', text: joined });
    paragraph = [];
  };
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? '';
    const found = codeAt(lines, at) ?? listAt(lines, at) ?? headingAt(line);
    if (found === undefined) {
      if (line.trim() === '') endParagraph();
      else paragraph.push(line);
      at += 1;
    } else {
      endParagraph();
      blocks.push(found.block);
      at += found.lines;
    }
  }
  endParagraph();
  return blocks;
}

type Found = { readonly block: TextBlock; readonly lines: number };

function headingAt(line: string): Found | undefined {
  const match = heading.exec(line);
  if (match === null) return undefined;
  return { block: { kind: 'heading', level: (match[1] ?? '').length, text: match[2] ?? '' }, lines: 1 };
}

/** A fence that is not closed yet runs to the end: the rest of it is still being written. */
function codeAt(lines: readonly string[], at: number): Found | undefined {
  const match = fence.exec(lines[at] ?? '');
  if (match === null) return undefined;
  const mark = match[1] ?? '';
  const close = lines.findIndex((line, index) => index > at && line.trim() === mark);
  const end = close === -1 ? lines.length : close;
  const text = lines.slice(at + 1, end).join('\n');
  return { block: { kind: 'code', language: match[2] ?? '', text }, lines: Math.min(end + 1, lines.length) - at };
}

function listAt(lines: readonly string[], at: number): Found | undefined {
  const first = lines[at] ?? '';
  const isOrdered = numbered.test(first);
  if (!isOrdered && !bullet.test(first)) return undefined;
  const items: string[] = [];
  let end = at;
  for (; end < lines.length; end++) {
    const line = lines[end] ?? '';
    const item = isOrdered ? numbered.exec(line)?.[2] : bullet.exec(line)?.[1];
    if (item !== undefined) items.push(item);
    else if (/^\s{2,}\S/.test(line)) items[items.length - 1] += `\n${line.trim()}`;
    else break;
  }
  const start = Number(numbered.exec(first)?.[1] ?? 1);
  return { block: { kind: 'list', isOrdered, start, items }, lines: end - at };
}

const spanPattern = /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)|(https?:\/\/[^\s<>")\]]+)/g;

export function spansOf(text: string): readonly Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (const match of text.matchAll(spanPattern)) {
    if (match.index > from) spans.push({ kind: 'text', text: text.slice(from, match.index) });
    spans.push(spanOf(match));
    from = match.index + match[0].length;
  }
  if (from < text.length) spans.push({ kind: 'text', text: text.slice(from) });
  return spans;
}

function spanOf([whole, code, strong, label, href]: readonly (string | undefined)[]): Span {
  if (code !== undefined) return { kind: 'code', text: code };
  if (strong !== undefined) return { kind: 'strong', text: strong };
  if (label !== undefined && href !== undefined) return { kind: 'link', text: label, href };
  return { kind: 'link', text: whole ?? '', href: whole ?? '' };
}
