import { type ReactNode, useSyncExternalStore } from 'react';
import { Icon } from './icon.tsx';
import { currentNotices, dismiss, subscribeNotices } from './notice-board.ts';

export function Notices(): ReactNode {
  const notices = useSyncExternalStore(subscribeNotices, currentNotices);
  return (
    <section className="notices" aria-label="Notices" aria-live="polite">
      {notices.map((notice) => (
        <p key={notice.id} className="notice" data-tone={notice.tone} role={notice.tone === 'bad' ? 'alert' : 'status'}>
          <span>{notice.text}</span>
          {notice.action !== undefined && (
            <button
              type="button"
              className="button small"
              onClick={() => {
                notice.action?.act();
                dismiss(notice.id);
              }}
            >
              {notice.action.label}
            </button>
          )}
          <button type="button" className="icon-button" aria-label="Dismiss" onClick={() => dismiss(notice.id)}>
            <Icon name="close" />
          </button>
        </p>
      ))}
    </section>
  );
}
