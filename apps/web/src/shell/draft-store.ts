const prefix = 'concerto.draft.';

/** What was being written when the page was closed: to a session or to a request by its id, or to start one. */
export function keptDraft(id: string): string {
  try {
    return localStorage.getItem(prefix + id) ?? '';
  } catch {
    return ''; // A browser that keeps nothing for us.
  }
}

export function keepDraft(id: string, text: string): void {
  if (text === '') return forgetDraft(id);
  try {
    localStorage.setItem(prefix + id, text);
  } catch {
    // Full or forbidden: the text is lost only if the page is closed.
  }
}

export function forgetDraft(id: string): void {
  try {
    localStorage.removeItem(prefix + id);
  } catch {
    // Nothing was kept.
  }
}
