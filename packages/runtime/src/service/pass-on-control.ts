import type { LifecycleVerb } from '@concerto/protocol';
import { type SessionState, type Wish, waitsForChildren } from '@concerto/session';
import { cancelBelow } from '../owner/cancel-below.ts';
import { passedOnId } from '../session/passed-on-id.ts';

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
  readonly now: () => number;
};

/**
 * A program that runs tells its agents itself; one for which it counted at once, because nobody runs it, cannot. Gives how
 * it is then.
 */
export async function passOnControl(asked: Asked, ports: Ports): Promise<SessionState> {
  await passOn(asked, ports);
  const { after } = asked;
  if (!waitsForChildren(after)) return after;
  // Perhaps none of them has anybody to wait for.
  await cancelBelow(after.id, ports);
  return (await ports.state(after.id)) ?? after;
}

async function passOn({ kind, requestId, before, after }: Asked, { state, execute }: Ports): Promise<void> {
  const ask = async (child: string, by: string): Promise<void> => {
    // One that is over, or holds, by itself refuses it.
    await execute(child, { type: 'control', kind, requestId: passedOnId(by, child) });
  };
  if (kind === 'cancel' && (after.end !== undefined || waitsForChildren(after)))
    for (const child of after.children) await ask(child, requestId);
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
