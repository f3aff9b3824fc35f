type Listener = (session: string) => void;

export type GrowthSignal = {
  /** Hears of every session, or of one; returns the way to stop. */
  listen(listener: Listener, session?: string): () => void;
  emit(session: string): void;
  /** In the next turn of the loop, once for a session: whoever waits for an append goes on before those who only watch. */
  emitSoon(session: string): void;
  /** What was to be told soon. */
  emitNow(): void;
};

/** The listeners of one log. A listener that throws is a bug of its own: it fails neither the append nor the others. */
export function growthSignal(): GrowthSignal {
  // By session, so that an append costs its own listeners and not those of a thousand other sessions.
  const listeners = new Map<string | undefined, Set<{ readonly call: Listener }>>();
  let grown = new Set<string>();
  const emit = (session: string): void => {
    for (const group of [listeners.get(undefined), listeners.get(session)]) {
      for (const listener of group ?? []) callSafely(listener.call, session);
    }
  };
  const emitNow = (): void => {
    const sessions = grown;
    grown = new Set();
    for (const session of sessions) emit(session);
  };
  return {
    listen(listener, session) {
      // Wrapped, so that the same function may listen twice and stop once.
      const registered = { call: listener };
      const group = listeners.get(session) ?? new Set();
      listeners.set(session, group.add(registered));
      return () => {
        group.delete(registered);
        if (group.size === 0 && listeners.get(session) === group) listeners.delete(session);
      };
    },
    emit,
    emitSoon(session) {
      if (grown.size === 0) setImmediate(emitNow);
      grown.add(session);
    },
    emitNow,
  };
}

function callSafely(listener: Listener, session: string): void {
  try {
    listener(session);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
