import { GraphEdge, GraphEdit, GraphNode, GraphTransform } from '@concerto/protocol';
import * as z from 'zod';

type Fields = Readonly<Record<string, { safeParse(value: unknown): { readonly success: boolean } }>>;

/** A model writes what it has been told of: the shapes themselves, in a line each instead of a page of JSON Schema. */
function fieldsOf(shape: Fields, without: readonly string[] = []): string {
  const names = Object.keys(shape).filter((name) => !without.includes(name));
  return `{${names.map((name) => `${name}${shape[name]?.safeParse(undefined).success === true ? '?' : ''}`).join(', ')}}`;
}

const editKinds = GraphEdit.def.options.map(
  ({ shape }) => `${[...shape.type.def.values].join()} ${fieldsOf(shape, ['type', 'graphId'])}`,
);
const transformKinds = GraphTransform.def.options.map(
  ({ shape }) => `${[...shape.kind.def.values].join()} ${fieldsOf(shape, ['kind'])}`,
);

const edits = z
  .array(z.record(z.string(), z.json()))
  .describe(
    `What to change, in order. Each has a \`type\` with what is its own: ${editKinds.join('; ')}. A node is ${fieldsOf(GraphNode.shape)}, an edge ${fieldsOf(GraphEdge.shape)}. With \`graphId\` it is about a graph within the graph.`,
  );
const label = z.string().min(1).describe('What the change is, in a few words for the user');

export const graphEdits = { label, edits };

export const graphChange = {
  label,
  edits: edits.optional(),
  transform: z
    .record(z.string(), z.json())
    .optional()
    .describe(
      `In place of \`edits\`, a change that the editor works out. It has a \`kind\` with what is its own: ${transformKinds.join('; ')}.`,
    ),
};
