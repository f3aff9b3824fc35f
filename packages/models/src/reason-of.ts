/** Node says `fetch failed`, and why in the cause of the cause. */
export function reasonOf(error: Error): Error {
  let reason = error;
  while (reason.cause instanceof Error) reason = reason.cause;
  return reason;
}
