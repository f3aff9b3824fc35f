import type { Span } from '../source/span.ts';
import type { FieldInitializer, StructExpression } from '../syntax/expression.ts';
import type { Path } from '../syntax/node.ts';
import { checkFits, lookupLocal, readType } from './body.ts';
import { expectedInside } from './check-literal.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import { freshType } from './instantiate.ts';
import { canSee, canSeeField, type Meaning } from './module-scope.ts';
import { didYouMean, lookupName, namesVisible, reportHidden, reportMissing, resolvePath } from './resolve-path.ts';
import { count } from './resolve-type.ts';
import { variantRef } from './resolve-value.ts';
import {
  ANY,
  applied,
  ERROR,
  type FieldInfo,
  isCon,
  prune,
  substitute,
  type Type,
  type TypeCon,
  type VariantInfo,
} from './types.ts';
import { assign } from './unify.ts';

export type StructHead =
  | { readonly kind: 'struct'; readonly con: TypeCon; readonly type?: Type }
  | { readonly kind: 'variant'; readonly variant: VariantInfo };

/** `Name { … }` in an expression or pattern: the struct, schema, error type or variant it names. */
export function resolveStructHead(body: Body, path: Path): StructHead | undefined {
  const { cx } = body;
  const [first] = path.segments;
  if (first === undefined || path.segments.some((segment) => segment.text === '')) return undefined;
  if (first.text === 'Self' && body.types.self !== undefined) return selfHead(body, path);
  if (path.segments.length === 1) {
    const local = lookupLocal(body, first.text);
    const entry = local?.kind === 'entry' ? local.entry : lookupName(cx, body.module, first.text);
    if (entry === undefined) {
      cx.report.error(CODE.undefinedName, path.span, `cannot find type \`${first.text}\``, {
        help: didYouMean(first.text, namesVisible(cx, body.module)),
      });
      return undefined;
    }
    return headOf(body, path, entry.meaning);
  }
  const target = resolvePath(cx, body.module, path);
  if (target.kind === 'missing') {
    const segments = path.segments.map((segment) => segment.text);
    reportMissing(cx, { file: cx.report.file, path, segments, target, module: body.module });
    return undefined;
  }
  if (target.kind === 'associated') {
    const last = path.segments[path.segments.length - 1] ?? path;
    cx.report.error(CODE.undefinedName, last.span, `no variant \`${target.name}\` in \`${target.con.name}\``, {
      help: didYouMean(target.name, target.con.variants?.keys() ?? []),
    });
    return undefined;
  }
  if (!canSee(body.module, target.entry)) {
    reportHidden(cx, target.entry, path, cx.report.file);
    return undefined;
  }
  return headOf(body, path, target.entry.meaning);
}

function selfHead(body: Body, path: Path): StructHead | undefined {
  const self = body.types.self;
  if (self?.kind !== 'applied') return undefined;
  const [, second] = path.segments;
  if (second === undefined)
    return self.con.fields === undefined ? undefined : { kind: 'struct', con: self.con, type: self };
  const variant = self.con.variants?.get(second.text);
  return variant === undefined ? undefined : { kind: 'variant', variant };
}

function headOf(body: Body, path: Path, meaning: Meaning): StructHead | undefined {
  if (meaning.kind === 'variant') return { kind: 'variant', variant: meaning.variant };
  if (meaning.kind === 'type' && meaning.con.fields !== undefined) return { kind: 'struct', con: meaning.con };
  if (meaning.kind === 'alias' && meaning.con?.fields !== undefined) {
    return meaning.type === undefined
      ? { kind: 'struct', con: meaning.con }
      : { kind: 'struct', con: meaning.con, type: meaning.type };
  }
  if (meaning.kind !== 'broken') {
    const name = path.segments.map((segment) => segment.text).join('::');
    body.cx.report.error(CODE.kindOfName, path.span, `\`${name}\` has no fields`, {
      help: meaning.kind === 'type' && meaning.con.family === 'enum' ? 'name one of its variants' : undefined,
    });
  }
  return undefined;
}

export function checkStruct(body: Body, node: StructExpression, expected: Type | undefined): Type {
  const { cx } = body;
  const head = resolveStructHead(body, node.path);
  if (head === undefined) {
    cx.facts.names.set(node.id, { kind: 'unresolved' });
    for (const field of node.fields) body.check(field.value);
    if (node.base !== undefined) body.check(node.base);
    return ERROR;
  }
  const con = head.kind === 'struct' ? head.con : head.variant.owner;
  const fields = (head.kind === 'struct' ? con.fields : head.variant.fields) ?? new Map<string, FieldInfo>();
  const { type, instance } = freshType(con);
  bindTypeArguments(body, node, con, type);
  const wanted = expectedInside(expected);
  // What is expected decides the parameters early, so that the fields can adapt to them.
  if (wanted !== undefined && isCon(wanted, con) && con.params.length > 0) assign(body.cx, type, wanted);
  const name = head.kind === 'struct' ? con.name : `${con.name}::${head.variant.name}`;
  if (head.kind === 'struct') {
    const kind = con.family === 'schema' ? 'schema' : 'struct';
    cx.facts.names.set(node.id, { kind, path: con.path, name: con.name, fields: [...fields.keys()] });
  } else {
    cx.facts.names.set(node.id, { kind: 'variant', variant: variantRef(head.variant) });
    if (head.variant.shape !== 'struct') {
      reportShape(body, node, head.variant);
      for (const field of node.fields) body.check(field.value);
      return type;
    }
  }
  const given = new Set<string>();
  for (const field of node.fields) {
    const info = fields.get(field.name.text);
    if (given.has(field.name.text)) {
      cx.report.error(CODE.duplicateField, field.name.span, `field \`${field.name.text}\` is given twice`);
    }
    given.add(field.name.text);
    if (info === undefined) unknownField(body, field, name, fields);
    else if (reportHiddenField(body, field.name.span, info)) body.check(field.value);
    else checkFits(body, field.value, { type: substitute(info.type, instance), what: `field \`${info.name}\`` });
  }
  if (node.base !== undefined) checkFits(body, node.base, { type, what: 'the base' });
  else reportMissingFields(body, node, fields, { given, name });
  return type;
}

function bindTypeArguments(body: Body, node: StructExpression, con: TypeCon, type: Type): void {
  if (node.typeArguments.length === 0) return;
  const args = node.typeArguments.map((argument) => readType(body, argument));
  if (args.length !== con.params.length) {
    body.cx.report.error(
      CODE.typeArguments,
      node.path.span,
      `\`${con.name}\` takes ${count(con.params.length, 'type argument')}`,
    );
    return;
  }
  assign(body.cx, applied(con, args), type);
}

function reportShape(body: Body, node: StructExpression, variant: VariantInfo): void {
  const name = `${variant.owner.name}::${variant.name}`;
  const form = variant.shape === 'unit' ? `\`${name}\`` : `\`${name}(…)\``;
  body.cx.report.error(CODE.kindOfName, node.path.span, `\`${name}\` has no named fields`, { help: `write ${form}` });
}

function unknownField(body: Body, field: FieldInitializer, name: string, fields: ReadonlyMap<string, FieldInfo>): void {
  body.check(field.value);
  if (field.name.text === '') return;
  body.cx.report.error(CODE.unknownField, field.name.span, `\`${name}\` has no field \`${field.name.text}\``, {
    help: didYouMean(field.name.text, fields.keys()) ?? listFields(fields),
  });
}

export function listFields(fields: ReadonlyMap<string, FieldInfo>): string | undefined {
  const names = [...fields.keys()];
  if (names.length === 0 || names.length > 8) return undefined;
  return `it has ${names.map((name) => `\`${name}\``).join(', ')}`;
}

function reportMissingFields(
  body: Body,
  node: StructExpression,
  fields: ReadonlyMap<string, FieldInfo>,
  from: { readonly given: ReadonlySet<string>; readonly name: string },
): void {
  const { given, name } = from;
  const missing = [...fields.values()].filter((field) => !field.hasDefault && !given.has(field.name));
  // A type parameter that only an absent field mentions stays open; that is not a mistake.
  if (missing.length === 0) return;
  const list = missing.map((field) => `\`${field.name}\``).join(', ');
  body.cx.report.error(
    CODE.missingField,
    node.path.span,
    `missing ${missing.length === 1 ? 'field' : 'fields'} ${list} of \`${name}\``,
    {
      help: `every field without a default must be given`,
    },
  );
}

/** True, with a report, for a field that its module hides from this one. */
export function reportHiddenField(body: Body, span: Span, field: FieldInfo): boolean {
  if (canSeeField(body.module, field)) return false;
  body.cx.report.error(CODE.notVisible, span, `field \`${field.name}\` is private`, {
    help: 'write `pub` before it to use it outside its module',
  });
  return true;
}

/** The type of a field when the receiver's parameters are known. */
export function fieldType(receiver: Type, field: FieldInfo): Type {
  const type = prune(receiver);
  if (type.kind !== 'applied' || type.con.params.length === 0) return field.type;
  const map = new Map(type.con.params.map((param, index) => [param, type.args[index] ?? ANY]));
  return substitute(field.type, map);
}
