/**
 * Something that a wire says of a session, as it is sent. It is the same for everybody who follows; only with `about`
 * does each reader decide whether it is told.
 */
export type Said<About> = { readonly text: string; readonly about?: About };

/** As a server-sent event without a name. */
export function frameOf(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
