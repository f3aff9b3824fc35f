import type { Span } from '../source/span.ts';
import type { Argument, Expression } from '../syntax/expression.ts';
import type { TypeExpression } from '../syntax/type-expression.ts';
import { coerce, readType, reportMisfit } from './body.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import type { ArgumentSource } from './facts.ts';
import { implOf } from './impls.ts';
import { type Instance, instantiate } from './instantiate.ts';
import { didYouMean } from './resolve-path.ts';
import { count } from './resolve-type.ts';
import {
  ANY,
  CON,
  FLOAT,
  INT,
  isCon,
  isDynamic,
  isNumber,
  type ParamInfo,
  prune,
  type Signature,
  showType,
  substitute,
  type Type,
  type TypeParam,
  type VarType,
} from './types.ts';
import { assign } from './unify.ts';

/** The left side of `|>`: checked already, and the first argument. */
export interface Piped {
  readonly node: Expression;
  readonly type: Type;
}

export interface CallSite {
  /** What to call it in messages: `\`add\``. */
  readonly name: string;
  readonly span: Span;
  readonly arguments: readonly Argument[];
  readonly typeArguments: readonly TypeExpression[];
  readonly piped: Piped | undefined;
  readonly expected?: Type | undefined;
  /** Of a method of the language: what it is called on, which its type parameters are of. */
  readonly receiver?: Receiver | undefined;
  /** Where the callee is declared, for a label. */
  readonly declared?: { readonly span: Span; readonly file: string } | undefined;
}

interface Receiver {
  /** Absent where the method may change it: it stays what it is. */
  readonly node: Expression | undefined;
  readonly type: Type;
  /** The type of `self` as it is declared. */
  readonly self: Type;
}

export interface CheckedCall {
  readonly sources: readonly ArgumentSource[];
  readonly result: Type;
  readonly instance: Instance;
}

/** Shared by all calls of what is not generic; never written to. */
const NO_PARAMS: Instance = new Map();

/** Matches arguments to parameters, infers type parameters and checks every argument. */
export function checkArguments(
  body: Body,
  site: CallSite,
  signature: Signature,
  given: Instance = NO_PARAMS,
): CheckedCall {
  const instance = given === NO_PARAMS && signature.typeParams.length > 0 ? new Map() : given;
  instantiate(signature.typeParams, instance);
  bindTypeArguments(body, site, signature.typeParams, instance);
  const { sources, assigned } = matchArguments(body, site, signature.params);
  const result = substitute(signature.result, instance);
  const anything = hintFromExpected(body, site.expected, result);
  checkAssigned(body, site, assigned, { instance, anything });
  checkBounds(body, site, signature.typeParams, instance);
  return { sources, result, instance };
}

const NOTHING: readonly Type[] = [];

/**
 * An expected `Result<Option<Int>, String>` tells `Ok(…)` what its argument is. Conversions are left to the end. What may be
 * anything is given back: `Ok([1, "a"])` for a `Result<Any, String>`.
 */
function hintFromExpected(body: Body, expected: Type | undefined, result: Type): readonly Type[] {
  if (expected === undefined) return NOTHING;
  const wanted = prune(expected);
  const given = prune(result);
  if (given.kind !== 'applied') return NOTHING;
  if (wanted.kind === 'any') return given.args.map(prune);
  if (wanted.kind !== 'applied') return NOTHING;
  const target = wanted.con !== given.con && isCon(wanted, CON.Option) ? prune(wanted.args[0] ?? ANY) : wanted;
  if (target.kind !== 'applied' || target.con !== given.con) return NOTHING;
  const anything: Type[] = [];
  given.args.forEach((arg, index) => {
    const variable = prune(arg);
    const want = prune(target.args[index] ?? ANY);
    if (want.kind === 'any') anything.push(variable);
    else if (variable.kind === 'var' && want.kind !== 'var') assign(body.cx, want, variable);
  });
  return anything;
}

interface Inferred {
  readonly instance: Instance;
  /** Type parameters of which the context wants nothing in particular. */
  readonly anything: readonly Type[];
}

function bindTypeArguments(body: Body, site: CallSite, params: readonly TypeParam[], instance: Instance): void {
  if (site.typeArguments.length === 0) return;
  const types = site.typeArguments.map((argument) => readType(body, argument));
  if (types.length > params.length) {
    body.cx.report.error(CODE.typeArguments, site.span, `${site.name} takes ${count(params.length, 'type argument')}`);
  }
  types.forEach((type, index) => {
    const param = params[index];
    if (param !== undefined) instance.set(param, type);
  });
}

interface Assigned {
  readonly param: ParamInfo | undefined;
  readonly value: Expression;
  readonly type: Type | undefined;
}

interface Matched {
  readonly sources: readonly ArgumentSource[];
  readonly assigned: readonly Assigned[];
}

const POSITIONAL: (readonly ArgumentSource[])[] = [];

/** `f(a, b)`, one after another: most calls. */
function positionalSources(length: number): readonly ArgumentSource[] {
  POSITIONAL[length] ??= Array.from({ length }, (_, index) => ({ kind: 'argument', index }) as const);
  return POSITIONAL[length];
}

function matchSimply(site: CallSite, params: readonly ParamInfo[]): Matched | undefined {
  const { length } = params;
  if (site.piped !== undefined || site.arguments.length !== length || params[length - 1]?.variadic === true)
    return undefined;
  const assigned: Assigned[] = [];
  for (let index = 0; index < length; index++) {
    const argument = site.arguments[index];
    if (argument === undefined || argument.label !== undefined) return undefined;
    assigned.push({ param: params[index], value: argument.value, type: undefined });
  }
  return { sources: positionalSources(length), assigned };
}

function matchArguments(body: Body, site: CallSite, params: readonly ParamInfo[]): Matched {
  return matchSimply(site, params) ?? matchFully(body, site, params);
}

/** Named arguments, defaults, pipes and variadic parameters. */
function matchFully(body: Body, site: CallSite, params: readonly ParamInfo[]): Matched {
  const sources: (ArgumentSource | undefined)[] = params.map(() => undefined);
  const assigned: Assigned[] = [];
  const rest: ArgumentSource[] = [];
  const variadic = params.length > 0 && params[params.length - 1]?.variadic === true;
  const fixed = variadic ? params.length - 1 : params.length;
  let next = 0;
  let extra = 0;
  const place = (source: ArgumentSource, value: Expression, type?: Type): void => {
    const at = next++;
    if (at < fixed) sources[at] = source;
    else if (variadic) rest.push(source);
    else extra++;
    const param = params[Math.min(at, fixed)];
    assigned.push({ param, value, type });
  };
  const { piped } = site;
  // `x |> emit("channel")` sends x: the channel stays where it is written.
  const pipedLast = site.name === '`emit`' && site.arguments.length > 0;
  if (piped !== undefined && !pipedLast) place({ kind: 'piped' }, piped.node, piped.type);
  let named = false;
  let wrongLabel = false;
  site.arguments.forEach((argument, index) => {
    const source: ArgumentSource = { kind: 'argument', index };
    if (argument.label === undefined) {
      if (named) positionalAfterNamed(body, argument);
      place(source, argument.value);
      return;
    }
    named = true;
    const at = params.findIndex((param) => param.name === argument.label?.text && param.variadic !== true);
    assigned.push({ param: params[at], value: argument.value, type: undefined });
    wrongLabel ||= at === -1;
    if (at === -1) unknownLabel(body, site, argument, params);
    else if (sources[at] !== undefined) labelTwice(body, argument);
    else sources[at] = source;
  });
  if (piped !== undefined && pipedLast) place({ kind: 'piped' }, piped.node, piped.type);
  if (!wrongLabel) reportCount(body, site, params, { sources, extra });
  const filled = sources
    .slice(0, fixed)
    .map((source, index): ArgumentSource => source ?? { kind: 'default', parameter: params[index]?.node });
  return { sources: [...filled, ...rest], assigned };
}

function positionalAfterNamed(body: Body, argument: Argument): void {
  body.cx.report.error(CODE.namedArgument, argument.span, 'an argument without a name after one with a name', {
    help: 'put the arguments without names first',
  });
}

function unknownLabel(body: Body, site: CallSite, argument: Argument, params: readonly ParamInfo[]): void {
  const name = argument.label?.text ?? '';
  const known = params.map((param) => param.name);
  body.cx.report.error(
    CODE.namedArgument,
    argument.label?.span ?? argument.span,
    `${site.name} has no parameter \`${name}\``,
    {
      help: didYouMean(name, known),
    },
  );
}

function labelTwice(body: Body, argument: Argument): void {
  const name = argument.label?.text ?? '';
  body.cx.report.error(CODE.namedArgument, argument.span, `argument \`${name}\` is given twice`);
}

function reportCount(
  body: Body,
  site: CallSite,
  params: readonly ParamInfo[],
  matched: {
    readonly sources: readonly (ArgumentSource | undefined)[];
    readonly extra: number;
  },
): void {
  const required = params.filter((param) => !param.hasDefault && param.variadic !== true).length;
  const missing = params.filter(
    (param, index) => !param.hasDefault && param.variadic !== true && matched.sources[index] === undefined,
  );
  if (missing.length === 0 && matched.extra === 0) return;
  const most = params.length;
  const wanted = required === most ? count(required, 'argument') : `${required} to ${count(most, 'argument')}`;
  const given = site.arguments.length + (site.piped === undefined ? 0 : 1);
  // Those of a variant, or of a function in a variable, have numbers for names.
  const names = missing
    .map((param) => (/^\d/.test(param.name) ? `argument ${params.indexOf(param) + 1}` : `\`${param.name}\``))
    .join(', ');
  body.cx.report.error(
    CODE.argumentCount,
    site.span,
    `${site.name} takes ${wanted}, but ${given} ${given === 1 ? 'is' : 'are'} given`,
    {
      help: matched.extra === 0 && names !== '' ? `missing: ${names}` : undefined,
      labels: site.declared === undefined ? [] : [{ ...site.declared, message: 'declared here' }],
    },
  );
}

/** Closures come last: the other arguments say what their parameters are. */
function checkAssigned(body: Body, site: CallSite, assigned: readonly Assigned[], inferred: Inferred): void {
  let hasClosure = false;
  for (const entry of assigned) {
    if (isClosure(entry.value) && entry.type === undefined) hasClosure = true;
    else checkOne(body, site, { entry, assigned }, inferred);
  }
  if (!hasClosure) return;
  for (const entry of assigned) {
    if (isClosure(entry.value) && entry.type === undefined) checkOne(body, site, { entry, assigned }, inferred);
  }
}

function isClosure(node: Expression): boolean {
  return node.kind === 'ClosureExpression' || (node.kind === 'ParenExpression' && isClosure(node.expression));
}

/** One argument among all of its call. */
interface One {
  readonly entry: Assigned;
  readonly assigned: readonly Assigned[];
}

function checkOne(body: Body, site: CallSite, { entry, assigned }: One, { instance, anything }: Inferred): void {
  const { param, value } = entry;
  if (param === undefined) {
    if (entry.type === undefined) body.check(value);
    return;
  }
  const type = substitute(param.type, instance);
  const actual = entry.type ?? body.check(value, isAmong(anything, type) ? ANY : type);
  const fit = assign(body.cx, actual, type);
  if (fit.ok) {
    if (fit.coercion !== undefined) coerce(body, value, fit.coercion);
    return;
  }
  const narrow = narrowNumber(param, actual, instance);
  if (narrow !== undefined) {
    narrow.bound = FLOAT;
    if (refitAll(body, site, assigned, instance)) return;
    narrow.bound = INT;
  }
  const wantsFunction = isCon(prune(type), CON.Function) && site.arguments.some((other) => isClosure(other.value));
  reportMisfit(body.cx, value.span, actual, {
    type,
    what: `argument \`${param.name}\` of ${site.name}`,
    ...(wantsFunction && !isClosure(value) ? { help: `the function is given as \`${param.name}\`, at the end` } : {}),
    ...(site.declared === undefined ? {} : { label: { ...site.declared, message: 'declared here' } }),
  });
}

/** Whether nothing is known yet of a type parameter that may be anything. */
function isAmong(anything: readonly Type[], raw: Type): boolean {
  if (anything.length === 0) return false;
  const type = prune(raw);
  return type.kind === 'var' && anything.includes(type);
}

/** `max(1, 2.5)`: a type parameter that was an Int so far may become Float. */
function narrowNumber(param: ParamInfo, actual: Type, instance: Instance): VarType | undefined {
  if (param.type.kind !== 'param') return undefined;
  const variable = instance.get(param.type.param);
  if (variable?.kind !== 'var') return undefined;
  return isCon(prune(variable), CON.Int) && isCon(prune(actual), CON.Float) ? variable : undefined;
}

/** What fitted before a type parameter became wider is converted: the 3 of `max(3, 2.5)` is a Float then. */
function refitAll(body: Body, site: CallSite, assigned: readonly Assigned[], instance: Instance): boolean {
  const { receiver } = site;
  if (receiver !== undefined && !refit(body, receiver.node, receiver.type, substitute(receiver.self, instance))) {
    return false;
  }
  return assigned.every(({ param, value, type }) => {
    const actual = type ?? body.cx.facts.types.get(value.id);
    // What was not looked at yet is going to be compared with the wider type.
    if (param === undefined || actual === undefined) return true;
    return refit(body, value, actual, substitute(param.type, instance));
  });
}

function refit(body: Body, node: Expression | undefined, actual: Type, type: Type): boolean {
  const fit = assign(body.cx, actual, type);
  if (!fit.ok || fit.coercion === undefined) return fit.ok;
  if (node !== undefined) coerce(body, node, fit.coercion);
  return node !== undefined;
}

/** The table of built-ins writes `N` for a type that is Int or Float. */
function checkNumber(body: Body, site: CallSite, raw: Type | undefined): void {
  const type = prune(raw ?? ANY);
  if (type.kind !== 'applied' || isNumber(type) || isDynamic(type)) return;
  body.cx.report.error(CODE.mismatch, site.span, `${site.name} needs numbers, found \`${showType(type)}\``);
}

export function checkBounds(body: Body, site: CallSite, params: readonly TypeParam[], instance: Instance): void {
  for (const param of params) {
    if (param.isNumber === true) checkNumber(body, site, instance.get(param));
    if (param.bounds.length === 0) continue;
    const type = instance.get(param);
    if (type === undefined) continue;
    const file = body.cx.report.file;
    // The type may only be known when the body is done.
    body.cx.later.push(() => {
      const known = prune(type);
      for (const trait of param.bounds) {
        const satisfied =
          known.kind === 'param'
            ? known.param.bounds.includes(trait)
            : known.kind !== 'applied' ||
              implOf(body.cx, known.con).traits.has(trait) ||
              known.con.trait === trait ||
              !trait.declared;
        if (satisfied) continue;
        body.cx.report.error(
          CODE.traitBound,
          site.span,
          `\`${showType(known)}\` does not implement \`${trait.name}\`, which ${site.name} asks of \`${param.name}\``,
          { help: `add \`impl ${trait.name} for ${showType(known)} { … }\``, file },
        );
      }
    });
  }
}
