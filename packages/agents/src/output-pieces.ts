import type { Alarm } from './agent-process.ts';

/** What a running tool writes comes in drops; each piece that we tell is an entry of a session's log. */
const pieceMs = 250;
const pieceCharactersMax = 4_000;
/** Of one call. The result tells the rest, as far as the agent does. */
const callCharactersMax = 64_000;

type Pending = { text: string; told: number; timer: Alarm | undefined };

/** Gathers the output of running calls into pieces. */
export class OutputPieces {
  readonly #later: (ms: number, call: () => void) => Alarm;
  readonly #tell: (callId: string, text: string) => void;
  readonly #pending = new Map<string, Pending>();

  constructor(later: (ms: number, call: () => void) => Alarm, tell: (callId: string, text: string) => void) {
    this.#later = later;
    this.#tell = tell;
  }

  push(callId: string, text: string): void {
    const pending = this.#pending.get(callId) ?? { text: '', told: 0, timer: undefined };
    this.#pending.set(callId, pending);
    pending.text += text;
    if (pending.text.length >= pieceCharactersMax) this.#flush(callId, pending);
    else pending.timer ??= this.#later(pieceMs, () => this.#flush(callId, pending));
  }

  /** The call has ended, or the turn has. */
  end(callId?: string): void {
    for (const [id, pending] of this.#pending) {
      if (callId !== undefined && id !== callId) continue;
      this.#flush(id, pending);
      this.#pending.delete(id);
    }
  }

  #flush(callId: string, pending: Pending): void {
    pending.timer?.cancel();
    pending.timer = undefined;
    const text = pending.text.slice(0, callCharactersMax - pending.told);
    pending.text = '';
    pending.told += text.length;
    if (text !== '') this.#tell(callId, text);
  }
}
