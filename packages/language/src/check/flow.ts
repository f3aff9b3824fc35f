import type { Body, LoopScope } from './context.ts';
import type { Local } from './facts.ts';

const NOTHING_UNSET: ReadonlySet<Local> = new Set();

export function unsetFrom(body: Body, locals: readonly Local[]): void {
  body.unset = new Set([...body.unset, ...locals]);
}

export function isSet(body: Body, local: Local): boolean {
  return !body.unset.has(local);
}

export function setFrom(body: Body, local: Local): void {
  if (body.unset.has(local)) body.unset = new Set([...body.unset].filter((each) => each !== local));
}

/** The ways through an `if`, a `match` or a `try`: they begin at one place and meet again behind it. */
export class Ways {
  readonly #body: Body;
  readonly #diverges: boolean;
  readonly #unset: ReadonlySet<Local>;
  #met: ReadonlySet<Local> | undefined;

  constructor(body: Body) {
    this.#body = body;
    this.#diverges = body.diverges;
    this.#unset = body.unset;
  }

  walk<T>(way: () => T): T {
    this.#body.diverges = this.#diverges;
    this.#body.unset = this.#unset;
    const result = way();
    if (!this.#body.diverges) this.#met = either(this.#met, this.#body.unset);
    return result;
  }

  /** Behind them all. True when none gets there. */
  meet(): boolean {
    const noneArrives = this.#met === undefined;
    this.#body.diverges = this.#diverges || noneArrives;
    this.#body.unset = this.#met ?? NOTHING_UNSET;
    return noneArrives;
  }
}

/** What runs perhaps never, or is left in the middle: behind it everything is as before. */
export function maybe<T>(body: Body, run: () => T): T {
  const { diverges, unset } = body;
  const result = run();
  body.diverges = diverges;
  body.unset = unset;
  return result;
}

/** A `loop` is only left by its `break`s. */
export function breakFrom(body: Body, loop: LoopScope): void {
  loop.unset = either(loop.unset, body.unset);
}

export function afterLoop(body: Body, loop: LoopScope): void {
  body.unset = loop.unset ?? NOTHING_UNSET;
}

function either(one: ReadonlySet<Local> | undefined, other: ReadonlySet<Local>): ReadonlySet<Local> {
  if (one === undefined || one.size === 0 || one === other) return other;
  return other.size === 0 ? one : new Set([...one, ...other]);
}
