import { type AnyCall, callSite } from './call-site.ts';
import { prepareCall } from './call-targets.ts';
import type { Frame } from './frame.ts';

export function compileCall(frame: Frame, node: AnyCall, dst: number): void {
  frame.scoped(() => {
    const prepared = prepareCall(frame, callSite(frame, node), {});
    prepared.perform(frame, { dst, first: prepared.first });
    prepared.writeBack?.();
  });
}

/** `await emit(…)` waits for the answer; every other awaited call is an ordinary one. */
export function compileAsk(frame: Frame, node: AnyCall, dst: number): void {
  frame.scoped(() => {
    const prepared = prepareCall(frame, callSite(frame, node), { ask: true });
    prepared.perform(frame, { dst, first: prepared.first });
  });
}
