/** What one can do about it while it is shown. */
type NoticeAction = { readonly label: string; readonly act: () => void };

export type Notice = {
  readonly id: number;
  readonly tone: 'info' | 'bad';
  readonly text: string;
  readonly action: NoticeAction | undefined;
};

/** How many are shown at once; the oldest goes first. */
const noticesMax = 4;
const infoLastsMs = 5000;
const badLastsMs = 12_000;

let notices: readonly Notice[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

/** Tells the person something that happened outside of what they look at. */
export function post(tone: Notice['tone'], text: string, action?: NoticeAction): void {
  lastId += 1;
  const id = lastId;
  change([...notices.filter((notice) => notice.text !== text), { id, tone, text, action }].slice(-noticesMax));
  setTimeout(() => dismiss(id), tone === 'bad' ? badLastsMs : infoLastsMs);
}

export function dismiss(id: number): void {
  change(notices.filter((notice) => notice.id !== id));
}

export function currentNotices(): readonly Notice[] {
  return notices;
}

export function subscribeNotices(onChange: () => void): () => void {
  listeners.add(onChange);
  return () => listeners.delete(onChange);
}

function change(next: readonly Notice[]): void {
  notices = next;
  for (const onChange of listeners) onChange();
}
