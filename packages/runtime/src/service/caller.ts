/** Who asks; `key` is the caller's idempotency key, from which ids are made so that a repeat names the same thing. */
export type Caller = {
  readonly actor: string;
  readonly key: string | undefined;
  /** The `traceparent` of the call, where calls are traced. */
  readonly trace?: string | undefined;
};
