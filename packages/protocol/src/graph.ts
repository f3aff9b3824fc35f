import * as z from 'zod/mini';
import { JsonRecord, JsonValue } from './json-value.ts';

/** A graph as graph-editing agents read and change it. What else a client keeps in it stays. */
export const GraphNode = z.looseObject({
  id: z.string().check(z.minLength(1)),
  type: z.string().check(z.minLength(1)),
  configuration: z.optional(JsonRecord),
  metadata: z.optional(JsonRecord),
});
export type GraphNode = z.infer<typeof GraphNode>;

export const GraphEdge = z.looseObject({
  from: z.string().check(z.minLength(1)),
  to: z.string().check(z.minLength(1)),
  out: z.optional(z.string()),
  in: z.optional(z.string()),
  metadata: z.optional(JsonRecord),
});
export type GraphEdge = z.infer<typeof GraphEdge>;

const parts = {
  title: z.optional(z.string()),
  description: z.optional(z.string()),
  metadata: z.optional(JsonRecord),
  nodes: z.array(GraphNode),
  edges: z.array(GraphEdge),
};
const SubGraph = z.looseObject(parts);
export const Graph = z.looseObject({
  ...parts,
  /** Graphs within it, by their ids. */
  graphs: z.optional(z.record(z.string(), SubGraph)),
  exports: z.optional(z.array(z.string())),
  assets: z.optional(
    z.record(z.string(), z.looseObject({ data: z.optional(JsonValue), metadata: z.optional(JsonRecord) })),
  ),
  integrations: z.optional(z.record(z.string(), JsonValue)),
});
export type Graph = z.infer<typeof Graph>;
export type SubGraph = z.infer<typeof SubGraph>;

/** Of the whole unless given: `""` is the graph itself. */
const graphId = z._default(z.nullish(z.string()), '');
const id = z.string();
const edge = GraphEdge;

/** One change; of several the next sees what the one before has done. */
export const GraphEdit = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('addnode'), graphId, node: GraphNode }),
  z.looseObject({ type: z.literal('removenode'), graphId, id }),
  z.looseObject({ type: z.literal('addedge'), graphId, edge }),
  z.looseObject({ type: z.literal('removeedge'), graphId, edge }),
  z.looseObject({ type: z.literal('changeedge'), graphId, from: edge, to: edge }),
  z.looseObject({ type: z.literal('changeedgemetadata'), graphId, edge, metadata: JsonRecord }),
  z.looseObject({
    type: z.literal('changeconfiguration'),
    graphId,
    id,
    configuration: JsonRecord,
    reset: z.optional(z.boolean()),
  }),
  z.looseObject({
    type: z.literal('changemetadata'),
    graphId,
    id,
    metadata: JsonRecord,
    reset: z.optional(z.boolean()),
  }),
  z.looseObject({
    type: z.literal('changegraphmetadata'),
    graphId,
    title: z.nullish(z.string()),
    description: z.nullish(z.string()),
    metadata: z.nullish(JsonRecord),
  }),
  z.looseObject({ type: z.literal('addgraph'), id, graph: SubGraph }),
  z.looseObject({ type: z.literal('removegraph'), id }),
  z.looseObject({ type: z.literal('toggleexport'), id }),
  z.looseObject({
    type: z.literal('addasset'),
    path: z.string(),
    data: z.optional(JsonValue),
    metadata: z.optional(JsonRecord),
  }),
  z.looseObject({ type: z.literal('removeasset'), path: z.string() }),
  z.looseObject({ type: z.literal('changeassetmetadata'), path: z.string(), metadata: JsonRecord }),
  z.looseObject({ type: z.literal('replacegraph'), replacement: Graph }),
  z.looseObject({ type: z.literal('upsertintegration'), id, integration: JsonValue }),
  z.looseObject({ type: z.literal('removeintegration'), id }),
]);
export type GraphEdit = z.infer<typeof GraphEdit>;

/** A change that the client works out. */
export const GraphTransform = z.discriminatedUnion('kind', [
  z.looseObject({
    kind: z.literal('updateNode'),
    graphId,
    nodeId: z.string(),
    configuration: z.nullish(JsonRecord),
    metadata: z.nullish(JsonRecord),
    /** Each gets an edge to the node. */
    portsToAutowire: z.nullish(z.array(z.looseObject({ path: z.string(), title: z.nullish(z.string()) }))),
  }),
  z.looseObject({ kind: z.literal('layoutGraph') }),
]);
export type GraphTransform = z.infer<typeof GraphTransform>;
