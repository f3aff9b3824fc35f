import type { Json } from '@concerto/base';
import type { ModelAnswer } from '@concerto/vm';
import { answerJson, WorldFailure } from './program-world.ts';

type Stream = { readonly chunks: string[]; readonly answer: ModelAnswer };

/** Answers that a program reads piece by piece. */
export class ProgramStreams {
  readonly #streams = new Map<string, Stream>();
  #count = 0;

  open(answer: ModelAnswer): Json {
    const stream = `stream-${++this.#count}`;
    this.#streams.set(stream, { chunks: answer.text.match(/\s*\S+\s*$|\s*\S+/g) ?? [], answer });
    return { stream };
  }

  next(name: string): Json {
    const stream = this.#streams.get(name);
    if (stream === undefined) throw new WorldFailure('stream', 'the answer has already ended');
    const chunk = stream.chunks.shift();
    if (chunk !== undefined) return { chunk };
    this.#streams.delete(name);
    return { response: answerJson(stream.answer) };
  }
}
