import type { Diagnostic } from './diagnostics/diagnostic.ts';
import type { Program } from './modules/program.ts';
import type { Span } from './source/span.ts';
import type { FunctionItem, Item, Stage } from './syntax/item.ts';

/** Text or a comment that is never closed. */
const NEVER_CLOSED = 'C0003';

/**
 * Leaves out what only follows from a mistake that is told. Behind a quote that is never closed code is read as text and text
 * as code. Where the parser had to guess, what stands around it was not read as it was meant: in the body of a function, that
 * function is not judged; anywhere else a declaration is missing or wrong, and so would be what is said of the others.
 */
export function withoutConsequences(
  program: Program,
  loading: readonly Diagnostic[],
  checking: readonly Diagnostic[],
): Diagnostic[] {
  const openFrom = new Map<string, number>();
  const first = new Map<string, number>();
  for (const { code, file, span } of loading) {
    if (code !== NEVER_CLOSED) continue;
    // From the start of the line: the quote without a partner may be an earlier one.
    const text = program.files.get(file)?.source.text ?? '';
    const line = span.start === 0 ? 0 : text.lastIndexOf('\n', span.start - 1) + 1;
    openFrom.set(file, Math.min(line, openFrom.get(file) ?? line));
    first.set(file, Math.min(span.start, first.get(file) ?? span.start));
  }
  const isSound = ({ code, file, span }: Diagnostic): boolean =>
    code === NEVER_CLOSED
      ? span.start === first.get(file)
      : span.end <= (openFrom.get(file) ?? Number.POSITIVE_INFINITY);
  const unread = unreadFunctions(program);
  const isJudged = ({ file, span }: Diagnostic): boolean =>
    !openFrom.has(file) && unread !== undefined && unread.get(file)?.some((each) => holds(each, span.start)) !== true;
  return [...loading.filter(isSound), ...checking.filter(isJudged)];
}

/** By file, the functions in whose bodies the parser had to guess; undefined when it had to elsewhere. */
function unreadFunctions(program: Program): Map<string, Span[]> | undefined {
  const unread = new Map<string, Span[]>();
  for (const [file, { tree, guesses }] of program.files) {
    const spans: Span[] = [];
    for (const offset of guesses) {
      const around = functionAround(tree.items, offset);
      if (around === undefined) return undefined;
      spans.push(around);
    }
    unread.set(file, spans);
  }
  return unread;
}

/** The function, method or stage whose body the offset is in. */
function functionAround(items: readonly (Item | FunctionItem | Stage)[], offset: number): Span | undefined {
  const item = items.find(({ span }) => holds(span, offset));
  switch (item?.kind) {
    case 'FunctionItem':
    case 'FunctionStage':
      return item.body !== undefined && holds(item.body.span, offset) ? item.span : undefined;
    case 'ModuleItem':
      return functionAround(item.items ?? [], offset);
    case 'ImplItem':
    case 'TraitItem':
    case 'ToolItem':
      return functionAround(item.methods, offset);
    case 'PipelineItem':
      return functionAround(item.stages, offset);
    default:
      return undefined;
  }
}

function holds(span: Span, offset: number): boolean {
  return span.start <= offset && offset <= span.end;
}
