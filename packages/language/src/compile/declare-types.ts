import type { Json } from '@concerto/base';
import type { IrEnum, IrField } from '@concerto/ir';
import * as z from 'zod';
import { declaredFields } from '../check/declare-types.ts';
import { ANY, CON, isCon, prune, type TypeCon } from '../check/types.ts';
import type { EnumVariant, FieldDeclaration, VariantPayload } from '../syntax/item.ts';
import { constantJson, constantOf } from './constant-json.ts';
import { decoratorText, irDecorators } from './decorators.ts';
import type { ModuleBuilder } from './module-builder.ts';
import { typeText } from './type-text.ts';

const MODES = ['coerce', 'strict'] as const;

/** Structs, schemas and enums of the program, before any code refers to them. */
export function declareTypes(builder: ModuleBuilder): void {
  const { structs, enums } = builder.module;
  for (const type of builder.facts.declaredTypes) {
    const { item } = type;
    if (item.kind === 'StructItem' || item.kind === 'SchemaItem') {
      const kind = item.kind === 'StructItem' ? 'struct' : 'schema';
      const fields = declaredFields(item).map((field) => irField(builder, field, type.con));
      const used = MODES.filter((mode) => item.decorators.some((decorator) => decorator.name.text === mode));
      const modes = item.kind === 'StructItem' || used.length === 0 ? {} : { modes: used };
      const names = type.con.params.map((param) => param.name);
      const params = names.length === 0 ? {} : { params: names };
      builder.registerStruct(
        type.path,
        structs.push({ name: builder.typeName(type), kind, ...params, ...modes, fields }) - 1,
      );
    }
    if (item.kind === 'EnumItem') {
      const variants = item.variants.map((variant) => irVariant(builder, variant, type.con));
      builder.registerEnum(type.path, enums.push({ name: builder.typeName(type), variants }) - 1);
    }
  }
}

export function irField(builder: ModuleBuilder, field: FieldDeclaration, con: TypeCon | undefined): IrField {
  // A value that JSON brings for `x?: T` is a bare T.
  const declared = prune(con?.fields?.get(field.name.text)?.type ?? ANY);
  const type = field.optional && isCon(declared, CON.Option) ? (declared.args[0] ?? ANY) : declared;
  const constant = constantOf(builder, field.defaultValue);
  const text = decoratorText(builder, field.decorators, 'describe') ?? field.doc;
  const fallback: { default?: Json } = constant === undefined ? {} : { default: constantJson(constant) };
  return {
    name: field.name.text,
    type: typeText(builder, type, con?.params),
    ...(field.optional ? { optional: true } : {}),
    ...fallback,
    ...(text === undefined ? {} : { description: text }),
    ...fieldRules(builder, field),
  };
}

const Rules = z.object({
  min: z.number().optional(),
  max: z.number().optional(),
  min_length: z.number().optional(),
  max_length: z.number().optional(),
  pattern: z.string().optional(),
  message: z.string().optional(),
});

function fieldRules(builder: ModuleBuilder, field: FieldDeclaration): Pick<IrField, 'rules'> {
  const decorators = field.decorators.filter((decorator) => decorator.name.text === 'validate');
  if (decorators.length === 0) return {};
  const named = Object.assign({}, ...irDecorators(builder, decorators).map((decorator) => decorator.named));
  return { rules: Rules.parse(named) };
}

function irVariant(builder: ModuleBuilder, { name, payload }: EnumVariant, con: TypeCon): IrEnum['variants'][number] {
  const fields = [...(con.variants?.get(name.text)?.fields.values() ?? [])];
  const types = fields.map((field) => typeText(builder, field.type));
  return { name: name.text, ...payloadShape(payload), ...(types.length === 0 ? {} : { types }) };
}

function payloadShape(payload: VariantPayload): { fields?: string[]; size: number } {
  switch (payload.kind) {
    case 'UnitPayload':
      return { size: 0 };
    case 'TuplePayload':
      return { size: payload.types.length };
    case 'StructPayload':
      return { fields: payload.fields.map((field) => field.name.text), size: payload.fields.length };
  }
}

/** Which function a method call finds by the run-time type of its receiver. */
export function declareMethods(builder: ModuleBuilder): void {
  const { facts, module } = builder;
  for (const [path, methods] of facts.methodTables) {
    const table: { [method: string]: number } = {};
    for (const [name, ref] of methods) {
      const index = builder.knownFunction(ref.item.id);
      if (index !== undefined && ref.receiver !== 'none') table[name] = index;
    }
    if (Object.keys(table).length > 0) module.methods[builder.nameOfPath(path)] = table;
  }
  for (const [path, traits] of facts.traitsOf) {
    module.traits[builder.nameOfPath(path)] = traits.map((trait) => builder.nameOfPath(trait));
  }
}
