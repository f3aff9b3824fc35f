import { findKeyPlaces } from '../manifest/key-places.ts';
import { type JsonSchema, manifestJsonSchema, schemasAt } from '../manifest/manifest-json-schema.ts';
import type { SourceFile } from '../source/source-file.ts';
import type { Span } from '../source/span.ts';
import type { Completion } from './completion.ts';

/** What can be written at a place of `Concerto.toml`: tables in a header, keys in a table, values behind a `=`. */
export function completeManifest(file: SourceFile, offset: number): Completion[] {
  const lineStart = file.text.lastIndexOf('\n', offset - 1) + 1;
  const before = file.text.slice(lineStart, offset);
  const schema = manifestJsonSchema();
  const [, opening, header] = /^\s*(\[+)\s*([^\]]*)$/.exec(before) ?? [];
  if (header !== undefined) {
    const as = opening === '[[' ? 'list' : 'table';
    return keysOf(schemasAt(schema, header.split('.').slice(0, -1)), new Set(), as);
  }
  const table = tableAt(file, offset);
  const assigned = /^\s*([\w.-]+)\s*=\s*(.*)$/.exec(before);
  const key = assigned?.[1];
  if (key !== undefined) return valuesOf(schemasAt(schema, [...table, ...key.split('.')]), assigned?.[2] ?? '');
  if (!/^\s*[\w-]*$/.test(before)) return [];
  const written = findKeyPlaces(file)
    .filter(({ path, isHeader, span }) => !isHeader && span.end < lineStart && isDirectlyIn(path, table))
    .map(({ path }) => path.at(-1) ?? '');
  return keysOf(schemasAt(schema, table), new Set(written), 'key');
}

/** What the key or table at a place is for. */
export function describeManifestKey(
  file: SourceFile,
  offset: number,
): { readonly text: string; readonly span: Span } | undefined {
  const place = findKeyPlaces(file).find(({ span }) => span.start <= offset && offset <= span.end);
  if (place === undefined) return undefined;
  // Above an entry stands what the whole list is for.
  const path = place.isEntry ? place.path.slice(0, -1) : place.path;
  const schemas = schemasAt(manifestJsonSchema(), path);
  const text = schemas.map(({ description }) => description).find((description) => description !== undefined);
  const shape = shapeOf(schemas);
  if (schemas.length === 0) return undefined;
  const header = place.isEntry ? `[[${path.join('.')}]]` : `[${path.join('.')}]`;
  const name = place.isHeader ? header : `${path.at(-1) ?? ''}: ${shape}`;
  return { text: text === undefined ? `\`${name}\`` : `\`${name}\`\n\n${text}`, span: place.span };
}

function isDirectlyIn(path: readonly string[], table: readonly string[]): boolean {
  return path.length === table.length + 1 && table.every((part, index) => path[index] === part);
}

function tableAt(file: SourceFile, offset: number): readonly string[] {
  return findKeyPlaces(file).findLast(({ isHeader, span }) => isHeader && span.end < offset)?.path ?? [];
}

type Written = 'key' | 'table' | 'list';

function keysOf(schemas: readonly JsonSchema[], written: ReadonlySet<string>, as: Written): Completion[] {
  return schemas.flatMap(({ properties, required = [] }) =>
    Object.entries(properties ?? {})
      .filter(([key, schema]) => !written.has(key) && isWrittenAs(schema, as))
      .map(([label, schema]): Completion => {
        const doc = schema.description;
        const insert = as === 'key' ? `${label} = ` : label;
        return {
          label,
          kind: 'property',
          detail: shapeOf([schema]),
          doc,
          rank: required.includes(label) ? 0 : 1,
          insert,
        };
      }),
  );
}

/** Tables stand in headers, and so do lists of them; short ones may also be written inline, but rarely are. */
function isWrittenAs(schema: JsonSchema, as: Written): boolean {
  // A table may also lead to a list of others: `[[agents.NAME.rules]]`.
  if (as === 'list') return isTable(schema) || isListOfTables(schema);
  return (as === 'table') === isTable(schema);
}

function isTable({ type, additionalProperties, properties }: JsonSchema): boolean {
  return type === 'object' && (properties !== undefined || typeof additionalProperties === 'object');
}

function isListOfTables({ items }: JsonSchema): boolean {
  return items !== undefined && isTable(items);
}

function valuesOf(schemas: readonly JsonSchema[], typed: string): Completion[] {
  const values = schemas.flatMap((schema) => {
    if (schema.enum !== undefined) return schema.enum;
    if (schema.const !== undefined) return [schema.const];
    return schema.type === 'boolean' ? [true, false] : [];
  });
  return values.map((value): Completion => {
    const text = typeof value === 'string' && !typed.startsWith('"') ? JSON.stringify(value) : String(value);
    return { label: String(value), kind: 'text', rank: 0, insert: text };
  });
}

function shapeOf(schemas: readonly JsonSchema[]): string {
  const shapes = schemas.map((schema) => {
    if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    return schema.type;
  });
  return [...new Set(shapes.filter((shape) => shape !== undefined))].join(' or ') || 'any';
}
