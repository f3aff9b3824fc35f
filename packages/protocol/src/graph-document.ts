import * as z from 'zod/mini';
import { Graph } from './graph.ts';

/** Up to which of its events the changes that a session only tells (`graphEdit`) are in the graph. */
const seen = z.record(z.string(), z.int());

const version = z.int().check(z.nonnegative());

/** The graph of a project. `version` goes up by one with each change; `label` and `by` are of the last one. */
export const GraphDocument = z.strictObject({
  graph: Graph,
  version,
  seen,
  label: z.optional(z.string()),
  by: z.optional(z.string()),
});
export type GraphDocument = z.infer<typeof GraphDocument>;

/** With the version that it was made from: what somebody else changed meanwhile is not overwritten. */
export const PutGraph = z.strictObject({
  graph: Graph,
  version,
  seen,
  label: z.string().check(z.minLength(1), z.maxLength(500)),
});
export type PutGraph = z.infer<typeof PutGraph>;
