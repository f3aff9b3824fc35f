import { createHash } from 'node:crypto';
import type { LifecycleVerb } from '@concerto/protocol';
import type { SessionState, Wish } from '@concerto/session';

/** What is asked of a program is asked of its agents too, under an id by which it is known for that again. */
export function passedOnId(requestId: string, child: string): string {
  return `c_${createHash('sha256')
    .update(JSON.stringify([requestId, child]))
    .digest('base64url')
    .slice(0, 20)}`;
}

type Asked = {
  readonly kind: LifecycleVerb;
  readonly requestId: string;
  /** How the session was, and how it is with what was asked. */
  readonly before: SessionState | undefined;
  readonly after: SessionState;
};

type Ports = {
  readonly state: (id: string) => Promise<SessionState | undefined>;
  readonly execute: (id: string, wish: Wish) => Promise<unknown>;
};

/** A program that runs tells its agents itself; one for which it counted at once, because nobody runs it, cannot. */
export async function passOnControl(
  { kind, requestId, before, after }: Asked,
  { state, execute }: Ports,
): Promise<void> {
  const ask = async (child: string, by: string): Promise<void> => {
    // One that is over, or holds, by itself refuses it.
    await execute(child, { type: 'control', kind, requestId: passedOnId(by, child) });
  };
  if (kind === 'cancel' && after.end !== undefined) for (const child of after.children) await ask(child, requestId);
  if (after.kind !== 'program') return;
  if (kind === 'pause' && after.hold?.requestId === requestId) {
    for (const child of after.children) if ((await state(child))?.supervises === undefined) await ask(child, requestId);
  }
  const held = before?.hold?.kind === 'paused' ? before.hold.requestId : undefined;
  if (kind !== 'resume' || held === undefined || after.hold !== undefined) return;
  for (const child of after.children) {
    // Somebody else may have paused it alone, or again.
    if ((await state(child))?.hold?.requestId === passedOnId(held, child)) await ask(child, requestId);
  }
}
