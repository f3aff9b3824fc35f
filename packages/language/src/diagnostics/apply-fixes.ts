import type { DiagnosticFix, TextEdit } from './diagnostic.ts';

/** A fix that touches what an earlier one changed is left out whole; a second run finds it again. */
export function applyFixes(text: string, fixes: readonly DiagnosticFix[]): { text: string; applied: DiagnosticFix[] } {
  const taken: TextEdit[] = [];
  const applied: DiagnosticFix[] = [];
  for (const fix of fixes) {
    if (fix.edits.some((edit) => taken.some((other) => overlaps(edit, other)))) continue;
    taken.push(...fix.edits);
    applied.push(fix);
  }
  taken.sort((a, b) => a.span.start - b.span.start);
  let result = '';
  let copied = 0;
  for (const edit of taken) {
    result += text.slice(copied, edit.span.start) + edit.text;
    copied = edit.span.end;
  }
  return { text: result + text.slice(copied), applied };
}

function overlaps(a: TextEdit, b: TextEdit): boolean {
  const isSamePlace = a.span.start === b.span.start && a.span.end === b.span.end;
  return isSamePlace || (a.span.start < b.span.end && b.span.start < a.span.end);
}
