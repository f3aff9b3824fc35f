import type * as z from 'zod/mini';

/** What can be read as a `T`; for those who ask for an answer of some shape and need not know how it is described. */
export type Shape<T> = z.ZodMiniType<T>;

/** Why something has not the shape: the first place that is wrong. */
export function whyNot(error: z.core.$ZodError): string {
  const [issue] = error.issues;
  return issue === undefined ? 'it is not valid' : `${issue.path.join('.')}: ${issue.message}`;
}
