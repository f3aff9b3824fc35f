import { type Line, LineError, LineSplitter } from '@concerto/protocol';
import { ClientError } from './client-error.ts';

/** The longest line of a stream: an event with a large payload fits, a server gone mad does not. */
const lineMax = 32 * 1024 * 1024;

export type Frame = { readonly id: string | undefined; readonly data: string };

/** Cuts a server's event stream into frames; comments only show that the server is there. */
export class FrameReader {
  readonly #lines = new LineSplitter(lineMax);
  #id: string | undefined;
  #data: string[] = [];

  /** The frames that this chunk completes. What has not been completed when the stream ends was never sent. */
  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    for (const line of this.#lines.push(chunk)) this.#read(line, frames);
    return frames;
  }

  #read(line: Line, frames: Frame[]): void {
    if (line instanceof LineError) throw new ClientError('bad_answer', `the event stream is broken: ${line.message}`);
    if (line === '') {
      if (this.#data.length > 0) frames.push({ id: this.#id, data: this.#data.join('\n') });
      this.#data = [];
      return;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.#data.push(value);
    if (field === 'id') this.#id = value;
  }
}
