import {
  applied,
  freshVar,
  functionOf,
  type Signature,
  substitute,
  type Type,
  type TypeCon,
  type TypeParam,
  type VariantInfo,
} from './types.ts';

export type Instance = Map<TypeParam, Type>;

/** Fresh inference variables for the parameters of one use of something generic. */
export function instantiate(params: readonly TypeParam[], into: Instance = new Map()): Instance {
  for (const param of params) into.set(param, freshVar());
  return into;
}

export function freshType(con: TypeCon): { readonly type: Type; readonly instance: Instance } {
  const instance = instantiate(con.params);
  return {
    type: applied(
      con,
      con.params.map((param) => instance.get(param) ?? freshVar()),
    ),
    instance,
  };
}

export function functionType(signature: Signature, instance: Instance): Type {
  return functionOf(
    signature.params.map((param) => substitute(param.type, instance)),
    substitute(signature.result, instance),
  );
}

/** The signature of a variant's constructor; its type parameters are those of the enum. */
export function variantSignature(variant: VariantInfo): Signature {
  const { owner } = variant;
  variant.signature ??= {
    typeParams: owner.params,
    params: [...variant.fields.values()].map((field) => ({
      name: field.name,
      type: field.type,
      hasDefault: false,
      node: undefined,
    })),
    result: applied(
      owner,
      owner.params.map((param): Type => ({ kind: 'param', param })),
    ),
    isAsync: false,
  };
  return variant.signature;
}
