import { addManifestLines, applyFixes, type Diagnostic, type DiagnosticFix, type SourceFile } from '@concerto/language';
import { type CodeAction, CodeActionKind, type Range, type TextEdit } from 'vscode-languageserver/node';
import { uriOf } from '../workspace/file-path.ts';
import { type FindSource, toLspDiagnostic } from './diagnostics.ts';
import { toOffset, toRange } from './positions.ts';

const FIX_ALL = `${CodeActionKind.SourceFixAll}.concerto`;

export const CODE_ACTION_KINDS: string[] = [CodeActionKind.QuickFix, FIX_ALL];

export interface CodeActionInput {
  readonly source: SourceFile;
  /** Of this file. */
  readonly diagnostics: readonly Diagnostic[];
  readonly range: Range;
  /** Kinds the editor wants; undefined: all. */
  readonly only: readonly string[] | undefined;
  readonly manifest: SourceFile | undefined;
  readonly findSource: FindSource;
}

/**
 * The fixes that `concerto check --fix` applies: one by one where the cursor is, and all at once. And the name that was
 * probably meant, which is for a person to decide.
 */
export function codeActions(input: CodeActionInput): CodeAction[] {
  const fixable = input.diagnostics.flatMap((diagnostic) => {
    const { fix } = diagnostic;
    return fix !== undefined && canApply(fix, input.manifest) ? [{ diagnostic, fix }] : [];
  });
  const wanted = (kind: string) => input.only === undefined || input.only.some((each) => isWithin(kind, each));
  const actions: CodeAction[] = [];
  const start = toOffset(input.source, input.range.start);
  const end = toOffset(input.source, input.range.end);
  for (const { diagnostic, fix } of wanted(CodeActionKind.QuickFix) ? fixable : []) {
    if (diagnostic.span.start > end || diagnostic.span.end < start) continue;
    actions.push({
      title: sentence(fix.title),
      kind: CodeActionKind.QuickFix,
      isPreferred: true,
      diagnostics: [toLspDiagnostic(diagnostic, input.source, input.findSource)],
      edit: { changes: edits(input, [fix]) },
    });
  }
  if (wanted(CodeActionKind.QuickFix)) {
    const here = input.diagnostics.filter(({ span }) => span.start <= end && span.end >= start);
    actions.push(...here.flatMap((diagnostic) => suggested(input, diagnostic)));
  }
  const isAsked = input.only !== undefined || fixable.length > 1;
  if (fixable.length > 0 && isAsked && wanted(FIX_ALL)) {
    const { applied } = applyFixes(
      input.source.text,
      fixable.map(({ fix }) => fix),
    );
    actions.push({ title: 'Apply all fixes in this file', kind: FIX_ALL, edit: { changes: edits(input, applied) } });
  }
  return actions;
}

function canApply(fix: DiagnosticFix, manifest: SourceFile | undefined): boolean {
  if (fix.manifestLines === undefined) return true;
  return manifest !== undefined && addManifestLines(manifest.text, [fix]).applied.length > 0;
}

/** How every suggestion of the checker reads. */
const DID_YOU_MEAN = /^did you mean `([A-Za-z_]\w*)`\?$/;

function suggested(input: CodeActionInput, diagnostic: Diagnostic): CodeAction[] {
  const { source, findSource } = input;
  const name = DID_YOU_MEAN.exec(diagnostic.help ?? '')?.[1];
  const written = source.text.slice(diagnostic.span.start, diagnostic.span.end);
  const uri = uriOf(source.path);
  if (name === undefined || uri === undefined || !/^\w+$/.test(written)) return [];
  return [
    {
      title: `Write \`${name}\``,
      kind: CodeActionKind.QuickFix,
      diagnostics: [toLspDiagnostic(diagnostic, source, findSource)],
      edit: { changes: { [uri]: [{ range: toRange(source, diagnostic.span), newText: name }] } },
    },
  ];
}

/** `source.fixAll.concerto` is within `source`. */
function isWithin(kind: string, outer: string): boolean {
  return outer === '' || kind === outer || kind.startsWith(`${outer}.`);
}

function sentence(title: string): string {
  return title.charAt(0).toUpperCase() + title.slice(1);
}

function edits(input: CodeActionInput, fixes: readonly DiagnosticFix[]): { [uri: string]: TextEdit[] } {
  const changes: { [uri: string]: TextEdit[] } = {};
  const { source, manifest } = input;
  const own = fixes
    .flatMap((fix) => fix.edits)
    .map(({ span, text }) => ({ range: toRange(source, span), newText: text }));
  const uri = uriOf(source.path);
  if (uri !== undefined && own.length > 0) changes[uri] = own;
  const manifestUri = manifest === undefined ? undefined : uriOf(manifest.path);
  if (manifest === undefined || manifestUri === undefined) return changes;
  const added = addManifestLines(manifest.text, fixes).text;
  if (added !== manifest.text) {
    const end = { start: manifest.text.trimEnd().length, end: manifest.text.length };
    const appended = { range: toRange(manifest, end), newText: added.slice(end.start) };
    changes[manifestUri] = [...(changes[manifestUri] ?? []), appended];
  }
  return changes;
}
