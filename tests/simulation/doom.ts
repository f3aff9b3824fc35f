import { faultOf } from './fault-of.ts';
import type { Fate } from './faulty-log.ts';

type CrashKind = 'crash-before' | 'crash-after';
/** A call, counted from 1, and whether it has its effect. */
export type CrashPlace = { readonly call: number; readonly kind: CrashKind };

/** Calls that change nothing: after one the world is as it was before it. */
const looks: ReadonlySet<string> = new Set(['read', 'head', 'getDocument', 'listDocuments']);

/** Ends the process at one place, or nowhere. */
export class Doom implements Fate {
  readonly calls: string[] = [];
  readonly #place: CrashPlace | undefined;

  constructor(place: CrashPlace | undefined) {
    this.#place = place;
  }

  next(call: string): 'none' | CrashKind {
    this.calls.push(call);
    return this.#place?.call === this.calls.length ? this.#place.kind : 'none';
  }

  delay(): number {
    return 0;
  }
}

/** Tells a story, in which the process dies at the given place, and returns the calls that it made. */
type Story = (place: CrashPlace | undefined) => Promise<readonly string[]>;

type Crashed = { readonly calls: readonly string[]; readonly faults: readonly string[] };

/** The story is told once without harm, and then once for each place at which its process may die. */
export async function crashEverywhere(story: Story): Promise<Crashed> {
  const calls = await story(undefined);
  const faults: string[] = [];
  for (const place of calls.flatMap(placesAt)) {
    const fault = await faultOf(() => story(place));
    if (fault !== undefined) faults.push(`${place.kind} call ${place.call}: ${fault}`);
  }
  return { calls, faults };
}

function placesAt(name: string, index: number): readonly CrashPlace[] {
  const call = index + 1;
  const before: CrashPlace = { call, kind: 'crash-before' };
  return looks.has(name) ? [before] : [before, { call, kind: 'crash-after' }];
}
