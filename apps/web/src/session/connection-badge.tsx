import type { ReactNode } from 'react';
import { useNow } from '../time/use-now.ts';
import type { FeedConnection } from './session-feed.ts';
import { useOnline } from './use-online.ts';

type Props = {
  readonly connection: FeedConnection;
  /** How much of what had happened before is still to come. */
  readonly behind: number;
  readonly onRetry: () => void;
};

/** Whether what is shown is what is. */
export function ConnectionBadge({ connection, behind, onRetry }: Props): ReactNode {
  const isOnline = useOnline();
  const { state, text } = wordsOf(connection, behind, isOnline, useNow());
  return (
    <output className="connection" data-state={state} aria-label="Connection">
      <span className="badge-dot" aria-hidden="true" />
      {text}
      {(state === 'waiting' || state === 'offline') && (
        <button type="button" className="link-button" onClick={onRetry}>
          Retry now
        </button>
      )}
    </output>
  );
}

function wordsOf(connection: FeedConnection, behind: number, isOnline: boolean, now: number) {
  switch (connection.kind) {
    case 'connecting':
      return { state: 'connecting', text: 'Connecting …' };
    case 'ended':
      return { state: 'ended', text: 'Complete' };
    case 'refused':
      return { state: 'refused', text: 'Disconnected' };
    case 'live':
      return behind > 0
        ? { state: 'connecting', text: `Replaying, ${behind.toLocaleString()} to go` }
        : { state: 'live', text: 'Live' };
    case 'waiting': {
      if (!isOnline) return { state: 'offline', text: 'Offline' };
      const seconds = Math.max(0, Math.ceil((connection.until - now) / 1000));
      return { state: 'waiting', text: seconds === 0 ? 'Reconnecting …' : `Reconnecting in ${seconds} s` };
    }
  }
}
