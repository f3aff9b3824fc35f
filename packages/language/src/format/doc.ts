/** What to print, with the places where a line may be broken. */
export type Doc =
  | string
  | readonly Doc[]
  | { readonly kind: 'line'; readonly flat: '' | ' ' }
  | { readonly kind: 'hardline' }
  /** A line break unless the line is still empty. */
  | { readonly kind: 'freshline' }
  | { readonly kind: 'blankline' }
  /** A space unless there is one, or an opening bracket, or nothing yet. */
  | { readonly kind: 'gap' }
  | { readonly kind: 'indent'; readonly content: Doc }
  | { readonly kind: 'group'; readonly content: Doc; readonly broken: boolean; readonly endsLine: boolean }
  | { readonly kind: 'ifBroken'; readonly broken: Doc; readonly flat: Doc }
  /** Printed at the end of the line. */
  | { readonly kind: 'suffix'; readonly text: string };

/** A space, or a line break when the group around it does not fit. */
export const line: Doc = { kind: 'line', flat: ' ' };
/** Nothing, or a line break. */
export const softline: Doc = { kind: 'line', flat: '' };
export const hardline: Doc = { kind: 'hardline' };
export const freshline: Doc = { kind: 'freshline' };
/** An empty line, where a line has just ended. */
export const blankline: Doc = { kind: 'blankline' };

export const gap: Doc = { kind: 'gap' };

export function indent(content: Doc): Doc {
  return { kind: 'indent', content };
}

/** Broken from the start when it contains a forced break; a comment behind its end breaks only what is around it. */
export function group(content: Doc): Doc {
  const endsLine = endsWithSuffix(content);
  return { kind: 'group', content, broken: endsLine ? breaksBeforeEnd(content) : hasForcedBreak(content), endsLine };
}

function endsWithSuffix(doc: Doc): boolean {
  if (typeof doc === 'string') return false;
  if (isList(doc)) return doc.length > 0 && endsWithSuffix(doc.at(-1) ?? '');
  return doc.kind === 'suffix' || (doc.kind === 'group' && doc.endsLine);
}

function breaksBeforeEnd(doc: Doc): boolean {
  if (typeof doc === 'string') return false;
  if (isList(doc)) return doc.slice(0, -1).some(hasForcedBreak) || breaksBeforeEnd(doc.at(-1) ?? '');
  return doc.kind === 'group' && doc.broken;
}

/** Printed only where the group around it is broken. */
export function ifBroken(broken: Doc, flat: Doc = ''): Doc {
  return { kind: 'ifBroken', broken, flat };
}

export function suffix(text: string): Doc {
  return { kind: 'suffix', text };
}

/** A group knows it already, so no part is looked at twice. */
export function hasForcedBreak(doc: Doc): boolean {
  // Text of several lines does not break what is around it.
  if (typeof doc === 'string') return false;
  if (isList(doc)) return doc.some(hasForcedBreak);
  switch (doc.kind) {
    case 'hardline':
    case 'freshline':
    case 'blankline':
      return true;
    case 'suffix':
      return true;
    case 'line':
    case 'gap':
    case 'ifBroken':
      return false;
    case 'indent':
      return hasForcedBreak(doc.content);
    case 'group':
      return doc.broken || doc.endsLine;
  }
}

export function isList(doc: Doc): doc is readonly Doc[] {
  return Array.isArray(doc);
}
