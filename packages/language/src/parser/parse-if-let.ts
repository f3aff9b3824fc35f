import type { TextEdit } from '../diagnostics/diagnostic.ts';
import type { Expression, MatchArm } from '../syntax/expression.ts';
import type { Name } from '../syntax/node.ts';
import { parsePattern } from './parse-pattern.ts';
import { emptyBlock, type Parser } from './parser.ts';

/**
 * `if let P = value { … } else { … }`, as people write who know it from Rust: one error with a fix. It is read as the
 * `match` that is meant, so that nothing else is wrong with its variables. The parser is at `let`, behind `if`.
 */
export function parseIfLet(p: Parser, start: number, parseElse: (p: Parser) => Expression): Expression {
  const head = parseLetHead(p, start, 'if');
  const body = p.block();
  const end = p.previousEnd;
  const hasElse = p.eat('else');
  const behindElse = p.start;
  const otherwise = hasElse ? parseElse(p) : emptyBlock(p);
  const rest = hasElse
    ? { span: { start: end, end: behindElse }, text: ', _ => ' }
    : { span: { start: end, end }, text: ', _ => { }' };
  const closed = { span: { start: p.previousEnd, end: p.previousEnd }, text: ' }' };
  const edits = hasElse ? [head.edit, rest, closed] : [head.edit, { ...rest, text: `${rest.text} }` }];
  report(p, head, edits);
  return matchOf(p, head, [arm(p, head.pattern, body), arm(p, wildcard(p), otherwise)]);
}

/** `while let P = value { … }` is `loop { match value { P => { … }, _ => break } }`. */
export function parseWhileLet(p: Parser, start: number, label: Name | undefined): Expression {
  const head = parseLetHead(p, start, 'while');
  const body = p.block();
  const end = p.previousEnd;
  report(p, head, [
    { ...head.edit, text: `loop { ${head.edit.text}` },
    { span: { start: end, end }, text: ', _ => break } }' },
  ]);
  const leave: Expression = {
    kind: 'BreakExpression',
    id: p.newId(),
    span: body.span,
    label: undefined,
    value: undefined,
  };
  const match = matchOf(p, head, [arm(p, head.pattern, body), arm(p, wildcard(p), leave)]);
  const block = { kind: 'Block', id: p.newId(), span: body.span, statements: [], tail: match } as const;
  return { kind: 'LoopExpression', id: p.newId(), span: p.spanFrom(start), label, body: block };
}

interface LetHead {
  readonly word: 'if' | 'while';
  readonly start: number;
  readonly at: number;
  readonly pattern: MatchArm['pattern'];
  readonly value: Expression;
  /** `if let P = value ` becomes `match value { P => `. */
  readonly edit: TextEdit;
}

function parseLetHead(p: Parser, start: number, word: 'if' | 'while'): LetHead {
  const at = p.position;
  p.bump();
  const pattern = parsePattern(p);
  p.expect('=', 'after the pattern');
  const value = p.headExpression();
  const text = ({ span }: { readonly span: { readonly start: number; readonly end: number } }): string =>
    p.file.text.slice(span.start, span.end);
  const edit = { span: { start, end: p.start }, text: `match ${text(value)} { ${text(pattern)} => ` };
  return { word, start, at, pattern, value, edit };
}

function report(p: Parser, { word, at }: LetHead, edits: readonly TextEdit[]): void {
  const span = { start: p.tokens.starts[at] ?? 0, end: p.tokens.ends[at] ?? 0 };
  const form =
    word === 'if'
      ? 'match value { Some(x) => { … }, _ => { … } }'
      : 'loop { match value { Some(x) => { … }, _ => break } }';
  p.report('C0101', span, `there is no \`${word} let\``, {
    help: `write \`${form}\``,
    fix: { title: 'write it as a `match`', edits },
  });
}

function arm(p: Parser, pattern: MatchArm['pattern'], body: Expression): MatchArm {
  return { kind: 'MatchArm', id: p.newId(), span: pattern.span, pattern, guard: undefined, body };
}

function wildcard(p: Parser): MatchArm['pattern'] {
  return { kind: 'WildcardPattern', id: p.newId(), span: { start: p.start, end: p.start } };
}

function matchOf(p: Parser, { start, value }: LetHead, arms: readonly MatchArm[]): Expression {
  return { kind: 'MatchExpression', id: p.newId(), span: p.spanFrom(start), scrutinee: value, arms };
}
