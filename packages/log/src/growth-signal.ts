type Listener = (session: string) => void;

export type GrowthSignal = {
  /** Hears of every session, or of one; returns the way to stop. */
  listen(listener: Listener, session?: string): () => void;
  emit(session: string): void;
};

/** The listeners of one log. A listener that throws is a bug of its own: it fails neither the append nor the others. */
export function growthSignal(): GrowthSignal {
  // By session, so that an append costs its own listeners and not those of a thousand other sessions.
  const listeners = new Map<string | undefined, Set<{ readonly call: Listener }>>();
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
    emit(session) {
      for (const group of [listeners.get(undefined), listeners.get(session)]) {
        for (const listener of group ?? []) callSafely(listener.call, session);
      }
    },
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
