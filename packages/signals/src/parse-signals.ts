import type { SignalEvent } from './events.ts';
import type { SignalOptions } from './signal-options.ts';
import { createSignalParser } from './signal-parser.ts';

/**
 * The events of one turn as its text or bytes arrive. Once the turn is over (END, or EXECUTE with `stop`) the source is
 * closed without reading on.
 */
export async function* parseSignals(
  source: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  options: SignalOptions = {},
): AsyncGenerator<SignalEvent, void, void> {
  let events: SignalEvent[] = [];
  const parser = createSignalParser(options, (event) => events.push(event));
  for await (const chunk of source) {
    parser.push(chunk);
    if (events.length > 0) {
      const ready = events;
      events = [];
      yield* ready;
    }
    if (parser.done) return;
  }
  parser.finish();
  yield* events;
}
