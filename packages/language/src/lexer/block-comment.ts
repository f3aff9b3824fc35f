import { SLASH, STAR } from './characters.ts';

/** Behind the mark that closes the comment at `start`, with those inside of it; undefined when nothing does. */
export function blockCommentEnd(source: string, start: number): number | undefined {
  let depth = 1;
  let offset = start + 2;
  while (offset < source.length) {
    const code = source.charCodeAt(offset);
    if (code === STAR && source.charCodeAt(offset + 1) === SLASH) {
      offset += 2;
      depth--;
      if (depth === 0) return offset;
    } else if (code === SLASH && source.charCodeAt(offset + 1) === STAR) {
      offset += 2;
      depth++;
    } else offset++;
  }
  return undefined;
}
