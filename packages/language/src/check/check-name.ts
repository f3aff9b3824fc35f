import type { Expression, NameExpression, PathExpression } from '../syntax/expression.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import type { Local } from './facts.ts';
import { isSet } from './flow.ts';
import { freshType, functionType, instantiate, variantSignature } from './instantiate.ts';
import type { ResolvedValue } from './resolve-value.ts';
import { applied, ERROR, freshVar, functionOf, optionOf, type Signature, type Type } from './types.ts';

/** The type a name or path has as a value, when it is not called. */
export function typeOfValue(body: Body, node: NameExpression | PathExpression, value: ResolvedValue): Type {
  switch (value.kind) {
    case 'local':
      return isSet(body, value.local) ? value.local.type : reportUnset(body, node, value.local);
    case 'variable':
      return value.variable.type;
    case 'function':
      if (value.meaning.isTest) {
        body.cx.report.error(CODE.testCalled, node.span, `\`${value.meaning.item.name.text}\` is a test, not a value`);
      }
      return signatureType(value.meaning.signature);
    case 'constant':
      return value.type;
    case 'variant': {
      const { variant } = value;
      if (variant.shape === 'unit') return freshType(variant.owner).type;
      if (variant.shape === 'tuple') return signatureType(variantSignature(variant));
      body.cx.report.error(
        CODE.missingField,
        node.span,
        `\`${variant.owner.name}::${variant.name}\` needs its fields`,
        {
          help: `write \`${variant.owner.name}::${variant.name} { … }\``,
        },
      );
      return ERROR;
    }
    case 'builtin':
      return signatureType(value.builtin.signature);
    case 'none':
      return optionOf(freshVar());
    case 'resource':
      return value.meaning.type;
    case 'session':
      return applied(value.con);
    case 'schema': {
      const con = body.cx.builtins.types.get('SchemaRef');
      return con === undefined ? ERROR : applied(con);
    }
    case 'associated': {
      const { method } = value;
      if (method.receiver === 'none') {
        if (method.ref === undefined) reportNoBody(body, node, `${value.con.name}::${method.name}`);
        return signatureType(method.signature);
      }
      const { type, instance } = freshType(value.con);
      if (method.trait !== undefined) instance.set(method.trait.self, type);
      instantiate(method.signature.typeParams, instance);
      const rest = functionType(method.signature, instance);
      return rest.kind === 'applied' ? functionOf([type, ...rest.args.slice(0, -1)], rest.args.at(-1) ?? ERROR) : rest;
    }
    case 'broken':
      return ERROR;
  }
}

function reportUnset(body: Body, node: Expression, local: Local): Type {
  const state = body.cx.uninitialized.get(local);
  if (state === 'told') return ERROR;
  body.cx.uninitialized.set(local, 'told');
  const isNew = state === 'new';
  const message = isNew ? 'is used before it has a value' : 'may be used before it has a value';
  body.cx.report.error(CODE.uninitialized, node.span, `\`${local.name}\` ${message}`, {
    help: isNew ? undefined : 'assign it on every way that leads here, or where it is declared',
  });
  return ERROR;
}

export function reportNoBody(body: Body, node: Expression, name: string): void {
  body.cx.report.error(CODE.notCallable, node.span, `\`${name}\` has no body of its own`, {
    help: 'call it on a type that implements the trait',
  });
}

function signatureType(signature: Signature): Type {
  return functionType(signature, instantiate(signature.typeParams));
}
