import { createHash } from 'node:crypto';

/** What is asked of a program is asked of its agents too, under an id by which it is known for that again. */
export function passedOnId(requestId: string, child: string): string {
  return `c_${createHash('sha256')
    .update(JSON.stringify([requestId, child]))
    .digest('base64url')
    .slice(0, 20)}`;
}
