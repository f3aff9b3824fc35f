import * as z from 'zod';
import { manifestSchema } from './manifest.ts';
import { MANIFEST_DOCS } from './manifest-docs.ts';

/** As much of JSON Schema as the manifest needs. */
export interface JsonSchema {
  readonly [key: string]: unknown;
  readonly type?: string | undefined;
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, JsonSchema>> | undefined;
  readonly additionalProperties?: JsonSchema | boolean | undefined;
  readonly items?: JsonSchema | undefined;
  readonly required?: readonly string[] | undefined;
  readonly anyOf?: readonly JsonSchema[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly const?: unknown;
  readonly default?: unknown;
}

/** The schema of `Concerto.toml` as people write it, for editors and other tools. */
export function manifestJsonSchema(): JsonSchema {
  const text = JSON.stringify(z.toJSONSchema(manifestSchema, { io: 'input', unrepresentable: 'any' }));
  const { $schema, ...plain }: JsonSchema = JSON.parse(text);
  return { $schema, title: 'Concerto.toml', ...described(plain, []) };
}

/** With what each key is for. */
function described(schema: JsonSchema, path: readonly string[]): JsonSchema {
  const doc = MANIFEST_DOCS[path.join('.')];
  return { ...(doc === undefined ? {} : { description: doc }), ...withinDescribed(schema, path) };
}

/** The forms of a value that may have several are all at its own place. */
function withinDescribed(schema: JsonSchema, path: readonly string[]): JsonSchema {
  const { properties, additionalProperties, items, anyOf } = schema;
  return {
    ...schema,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([key, value]) => [key, described(value, [...path, key])]),
          ),
        }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: described(additionalProperties, [...path, '*']) }
      : {}),
    ...(items === undefined ? {} : { items: described(items, [...path, '[]']) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map((form) => withinDescribed(form, path)) }),
  };
}

/** What the schema says about the place that a path of keys leads to: more than one where it allows several forms. */
export function schemasAt(schema: JsonSchema, path: readonly string[]): readonly JsonSchema[] {
  const forms = schema.anyOf === undefined ? [schema] : schema.anyOf;
  const [key, ...rest] = path;
  if (key === undefined) return schema.anyOf === undefined ? forms : [schema, ...forms];
  return forms.flatMap((form) => {
    const more = typeof form.additionalProperties === 'object' ? form.additionalProperties : undefined;
    const next = form.properties?.[key] ?? more ?? (/^\d+$/.test(key) ? form.items : undefined);
    return next === undefined ? [] : schemasAt(next, rest);
  });
}
