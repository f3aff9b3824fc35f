import type {
  BreakExpression,
  ContinueExpression,
  Expression,
  ForExpression,
  IfExpression,
  LoopExpression,
  WhileExpression,
} from '../syntax/expression.ts';
import { coerce, fitOrReport, fitStageResult, inScope, lookupLocal } from './body.ts';
import { checkBlock, checkStatements } from './check-block.ts';
import { checkSessionBreak } from './check-listen.ts';
import { bindPattern } from './check-pattern.ts';
import { placeRoot } from './check-place.ts';
import { CODE } from './codes.ts';
import type { Body, Context, LoopScope } from './context.ts';
import { afterLoop, breakFrom, maybe, Ways } from './flow.ts';
import { helpToAsk } from './help-with-types.ts';
import { didYouMean } from './resolve-path.ts';
import {
  ANY,
  arrayOf,
  BOOL,
  builtinName,
  CON,
  ERROR,
  freshVar,
  INT,
  isCon,
  isDynamic,
  isStringLike,
  NEVER,
  NIL,
  prune,
  STRING,
  showType,
  type Type,
  tupleOf,
} from './types.ts';
import { assign, join } from './unify.ts';

/** `if a = b`: one error about the sign, not one about `a` and one about its type. */
function checkComparisonMeant(body: Body, node: Expression): boolean {
  if (node.kind !== 'AssignExpression' || node.operator !== '=') return false;
  const { target, value } = node;
  // Only a variable can be assigned and be the condition at once.
  if (target.kind === 'NameExpression' && lookupLocal(body, target.name.text)?.kind === 'local') {
    const type = prune(body.check(target));
    const root = placeRoot(body, target);
    const mayChange = root.kind === 'local' && (root.local.mutable || body.cx.uninitialized.has(root.local));
    if (mayChange && assign(body.cx, type, BOOL).ok) return false;
  } else body.check(target);
  body.check(value);
  body.cx.report.error(CODE.condition, node.span, '`=` assigns, and a condition compares', {
    help: 'write `==`',
    fix: { title: 'write `==`', edits: [{ span: { start: target.span.end, end: value.span.start }, text: ' == ' }] },
  });
  return true;
}

export function checkCondition(body: Body, node: Expression, what: string): void {
  if (checkComparisonMeant(body, node)) return;
  const type = prune(body.check(node));
  if (type.kind === 'never' || assign(body.cx, type, BOOL).ok) return;
  body.cx.report.error(CODE.condition, node.span, `${what}: expected \`Bool\`, found \`${showType(type)}\``, {
    help: helpToAsk(type),
  });
}

/** True when the type says enough for the branches to be checked against it one by one. */
function isRequirement(expected: Type | undefined): expected is Type {
  if (expected === undefined) return false;
  const type = prune(expected);
  return type.kind === 'applied' || type.kind === 'param';
}

/** Joins the types of branches; collects what is needed to report the first that does not fit. */
export class Branches {
  readonly #body: Body;
  readonly #expected: Type | undefined;
  readonly #unused: boolean;
  readonly #what: string;
  readonly #joined: { readonly node: Expression; readonly type: Type }[] = [];
  #common: Type | undefined;

  constructor(
    body: Body,
    options: { readonly expected: Type | undefined; readonly unused: boolean; readonly what: string },
  ) {
    this.#body = body;
    this.#expected = options.expected;
    this.#unused = options.unused;
    this.#what = options.what;
  }

  add(node: Expression, type: Type): void {
    if (this.#unused) return;
    if (isRequirement(this.#expected)) {
      const wanted = { type: this.#expected, what: this.#what };
      if (this.#isStageResult(node, type)) fitStageResult(this.#body, node, type, wanted);
      else fitOrReport(this.#body, node, type, wanted);
      return;
    }
    if (prune(type).kind === 'never') return;
    this.#joined.push({ node, type });
    if (this.#common === undefined) {
      this.#common = type;
      return;
    }
    const next = joinBranches(this.#body.cx, this.#common, type);
    // Where anything goes, the branches may differ.
    const anything = this.#expected !== undefined && prune(this.#expected).kind === 'any';
    if (next !== undefined) this.#common = next;
    else if (anything) this.#common = ANY;
    else {
      this.#report(node, type);
      this.#common = ERROR;
    }
  }

  /** What is not known before it runs is taken as it comes: the pipeline looks at it then. */
  #isStageResult(node: Expression, type: Type): boolean {
    const known = prune(type);
    return this.#body.cx.stageResults.has(node.id) && known.kind !== 'never' && !isDynamic(known);
  }

  #report(node: Expression, type: Type): void {
    const common = this.#common ?? ANY;
    const first = this.#joined[0]?.node;
    const label = first === undefined ? [] : [{ span: first.span, message: `this is \`${showType(common)}\`` }];
    this.#body.cx.report.error(
      CODE.mismatch,
      node.kind === 'Block' && node.tail !== undefined ? node.tail.span : node.span,
      `${this.#what}: expected \`${showType(common)}\`, found \`${showType(type)}\``,
      { labels: label },
    );
  }

  result(): Type {
    if (this.#unused) return NIL;
    if (isRequirement(this.#expected)) return this.#expected;
    if (this.#common === undefined) return NEVER;
    this.#convert(prune(this.#common));
    return this.#common;
  }

  /** Only after the last branch is it known what the first has to become. */
  #convert(common: Type): void {
    for (const { node, type } of this.#joined) {
      const fit = assign(this.#body.cx, type, common);
      if (fit.ok && fit.coercion !== undefined) coerce(this.#body, node, fit.coercion);
    }
  }
}

/** A branch that gives nothing beside one that gives a value: the value may be nil, so nothing is known of it. */
function joinBranches(cx: Context, left: Type, right: Type): Type | undefined {
  if (isCon(prune(left), CON.Nil) !== isCon(prune(right), CON.Nil)) {
    const other = isCon(prune(left), CON.Nil) ? right : left;
    return isCon(prune(other), CON.Option) ? other : ANY;
  }
  return join(cx, left, right);
}

export function checkIf(body: Body, node: IfExpression, expected: Type | undefined): Type {
  const unused = body.cx.unused.has(node.id);
  checkCondition(body, node.condition, '`if` condition');
  const { otherwise } = node;
  if (otherwise === undefined) {
    if (unused) body.cx.unused.add(node.then.id);
    const type = maybe(body, () => checkBranch(body, node.then, undefined, unused));
    if (unused || isCon(prune(type), CON.Nil) || prune(type).kind === 'never') return NIL;
    reportMissingElse(body, node, expected);
    return ANY;
  }
  const branches = new Branches(body, { expected, unused, what: '`if` and `else` have one type' });
  const ways = new Ways(body);
  branches.add(
    node.then,
    ways.walk(() => checkBranch(body, node.then, expected, unused)),
  );
  branches.add(
    otherwise,
    ways.walk(() => checkBranch(body, otherwise, expected, unused)),
  );
  return ways.meet() && !unused ? NEVER : branches.result();
}

/** Without `else` the value may be nil; where a value is needed that is a mistake. */
function reportMissingElse(body: Body, node: IfExpression, expected: Type | undefined): void {
  if (!isRequirement(expected)) return;
  const type = prune(expected);
  if (isCon(type, CON.Nil) || isCon(type, CON.Option) || isCon(type, CON.Union)) return;
  body.cx.report.error(CODE.mismatch, node.span, `\`if\` without \`else\` gives nil when the condition is false`, {
    help: `add \`else\` with a \`${showType(type)}\``,
  });
}

function checkBranch(body: Body, node: Expression, expected: Type | undefined, unused: boolean): Type {
  if (unused) body.cx.unused.add(node.id);
  return body.check(node, expected);
}

const STORES = new Set(['Set', 'Queue', 'Stack']);

/** What a `for` over this gives in each round. */
function elementOf(body: Body, node: Expression, raw: Type): Type {
  const type = prune(raw);
  if (type.kind === 'error' || type.kind === 'never') return ERROR;
  if (isDynamic(type)) return ANY;
  if (isCon(type, CON.Array)) return type.args[0] ?? ANY;
  if (isCon(type, CON.Range)) return INT;
  if (isStringLike(type)) return STRING;
  if (isCon(type, CON.Map)) return tupleOf([type.args[0] ?? ANY, type.args[1] ?? ANY]);
  if (isCon(type, CON.Tuple))
    return type.args.reduce<Type>((common, item) => join(body.cx, common, item) ?? ANY, NEVER);
  if (type.kind === 'applied' && STORES.has(builtinName(type))) return type.args[0] ?? ANY;
  if (type.kind === 'applied' && builtinName(type) === 'HashMap') {
    return tupleOf([type.args[0] ?? ANY, type.args[1] ?? ANY]);
  }
  let help: string | undefined;
  if (isCon(type, CON.Int)) help = 'count with a range: `0..n`';
  if (isCon(type, CON.Option) || isCon(type, CON.Result)) help = 'take the value out first, with `?`, `??` or `match`';
  body.cx.report.error(CODE.notIterable, node.span, `\`for\` cannot walk \`${showType(type)}\``, { help });
  return ERROR;
}

export function checkFor(body: Body, node: ForExpression): Type {
  const iterable = body.check(node.iterable);
  const element = elementOf(body, node.iterable, iterable);
  const kind = node.parallel ? 'parallel' : 'for';
  const loop = loopScope(node.label?.text, kind);
  body.fn.loops.push(loop);
  const round = (): Type => {
    bindPattern(body, node.pattern, element, { mutable: false, purpose: 'for' });
    if (!node.parallel) body.cx.unused.add(node.body.id);
    return checkStatements(body, node.body);
  };
  const bodyType = maybe(body, () => inScope(body, round));
  body.cx.facts.types.set(node.body.id, bodyType);
  body.fn.loops.pop();
  if (node.parallel) return arrayOf(prune(bodyType).kind === 'never' ? NIL : bodyType);
  return loop.breakType === undefined ? NIL : ANY;
}

function loopScope(label: string | undefined, kind: LoopScope['kind']): LoopScope {
  return { label, kind, breakType: undefined, breaksEmpty: false, hasBreak: false, unset: undefined };
}

export function checkWhile(body: Body, node: WhileExpression): Type {
  checkCondition(body, node.condition, '`while` condition');
  const loop = loopScope(node.label?.text, 'while');
  body.fn.loops.push(loop);
  body.cx.unused.add(node.body.id);
  const type = maybe(body, () => checkBlock(body, node.body));
  body.cx.facts.types.set(node.body.id, type);
  body.fn.loops.pop();
  return loop.breakType === undefined ? NIL : ANY;
}

export function checkLoop(body: Body, node: LoopExpression, expected: Type | undefined): Type {
  const before = body.diverges;
  const loop = loopScope(node.label?.text, 'loop');
  if (isRequirement(expected)) loop.breakType = expected;
  body.fn.loops.push(loop);
  body.cx.unused.add(node.body.id);
  body.cx.facts.types.set(node.body.id, checkBlock(body, node.body));
  body.fn.loops.pop();
  body.diverges = before || !loop.hasBreak;
  afterLoop(body, loop);
  if (!loop.hasBreak) return NEVER;
  if (loop.breaksEmpty) return loop.breakType === undefined || isRequirement(expected) ? NIL : ANY;
  return loop.breakType ?? NIL;
}

/** The loop that `break` or `continue` means; reports when there is none. */
function targetLoop(body: Body, node: BreakExpression | ContinueExpression): LoopScope | undefined {
  const word = node.kind === 'BreakExpression' ? 'break' : 'continue';
  const { loops } = body.fn;
  if (node.label !== undefined) {
    const label = node.label.text;
    const loop = loops.findLast((candidate) => candidate.label === label);
    if (loop === undefined) {
      const known = loops.flatMap((candidate) => (candidate.label === undefined ? [] : [candidate.label]));
      body.cx.report.error(CODE.outsideLoop, node.label.span, `no loop is called \`'${label}\` here`, {
        help: didYouMean(label, known),
      });
    } else if (loops.slice(loops.indexOf(loop) + 1).some((inner) => inner.kind === 'parallel')) {
      body.cx.report.error(CODE.outsideLoop, node.span, `\`${word}\` cannot leave a \`parallel for\``);
    }
    return loop;
  }
  const loop = loops[loops.length - 1];
  if (loop === undefined) {
    body.cx.report.error(CODE.outsideLoop, node.span, `\`${word}\` outside a loop`, { help: helpOutside(body, word) });
  }
  return loop;
}

function helpOutside(body: Body, word: 'break' | 'continue'): string | undefined {
  if (body.fn.kind === 'closure') return 'it cannot leave the closure; use `return`';
  if (body.fn.kind !== 'handler') return undefined;
  return word === 'continue'
    ? 'write `return;` to go on with the next message'
    : 'write `break value;` to end the session with `Ok(value)`, or `return;` to go on with the next message';
}

export function checkBreak(body: Body, node: BreakExpression): Type {
  const { sessionResult } = body.fn;
  if (sessionResult !== undefined && node.label === undefined && body.fn.loops.length === 0 && node.value) {
    checkSessionBreak(body, node.value, sessionResult);
    body.diverges = true;
    return NEVER;
  }
  const loop = targetLoop(body, node);
  const expected = loop?.breakType;
  const type = node.value === undefined ? undefined : body.check(node.value, expected);
  body.diverges = true;
  if (loop === undefined) return NEVER;
  loop.hasBreak = true;
  breakFrom(body, loop);
  if (loop.kind === 'parallel') {
    body.cx.report.error(CODE.outsideLoop, node.span, '`break` cannot leave a `parallel for`');
    return NEVER;
  }
  if (type === undefined || node.value === undefined) {
    loop.breaksEmpty = true;
    return NEVER;
  }
  if (loop.breakType === undefined) {
    const fresh = freshVar();
    assign(body.cx, type, fresh);
    loop.breakType = prune(type).kind === 'never' ? ANY : fresh;
  } else fitOrReport(body, node.value, type, { type: loop.breakType, what: 'value of `break`' });
  return NEVER;
}

export function checkContinue(body: Body, node: ContinueExpression): Type {
  targetLoop(body, node);
  body.diverges = true;
  return NEVER;
}
