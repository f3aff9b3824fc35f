export type GrowthSignal = {
  listen(listener: (session: string) => void): () => void;
  emit(session: string): void;
};

/** The listeners of one log. A listener that throws is a bug of its own: it fails neither the append nor the others. */
export function growthSignal(): GrowthSignal {
  const listeners = new Set<{ readonly call: (session: string) => void }>();
  return {
    listen(listener) {
      // Wrapped, so that the same function may listen twice and stop once.
      const registered = { call: listener };
      listeners.add(registered);
      return () => {
        listeners.delete(registered);
      };
    },
    emit(session) {
      for (const listener of listeners) {
        try {
          listener.call(session);
        } catch (error) {
          queueMicrotask(() => {
            throw error;
          });
        }
      }
    },
  };
}
