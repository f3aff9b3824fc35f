import type { Json } from '@concerto/base';
import type { ModelRequest } from '@concerto/vm';

/** The oldest is forgotten for the next. */
const MOST_ANSWERS = 1000;

/** Answers of models with `@cache`, for as long as a program runs. A stream is not kept: whoever reads it wants to see it come. */
export class AnswerCache {
  readonly #answers = new Map<string, { readonly answer: Json; readonly at: number }>();

  find(request: ModelRequest): Json | undefined {
    const { cacheMs } = request;
    if (cacheMs === null || request.stream) return undefined;
    const key = keyOf(request);
    const kept = this.#answers.get(key);
    if (kept === undefined) return undefined;
    if (performance.now() - kept.at < cacheMs) return kept.answer;
    this.#answers.delete(key);
    return undefined;
  }

  /** `age`: how many milliseconds ago it came. */
  keep(request: ModelRequest, answer: Json, age = 0): void {
    if (request.cacheMs === null || request.stream) return;
    const [oldest] = this.#answers.keys();
    if (oldest !== undefined && this.#answers.size >= MOST_ANSWERS) this.#answers.delete(oldest);
    this.#answers.set(keyOf(request), { answer, at: performance.now() - age });
  }
}

/** All that the answer depends on. */
function keyOf({ connection, config, messages, tools, servers, schema }: ModelRequest): string {
  return JSON.stringify([connection, config, messages, tools, servers, schema]);
}
