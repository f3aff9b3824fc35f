import { type ReactNode, useEffect, useState } from 'react';
import { Icon } from '../shell/icon.tsx';
import { post } from '../shell/notice-board.ts';
import { askToNotify, notifyPermission, watchForRequests } from './notify.ts';

/** Offers to call a person who looks elsewhere; gone once they have said yes or no. */
export function NotifyButton(): ReactNode {
  const [permission, setPermission] = useState(notifyPermission);
  useEffect(watchForRequests, []);
  if (permission !== 'default') return null;
  const ask = async (): Promise<void> => {
    const answer = await askToNotify();
    setPermission(answer);
    if (answer === 'granted')
      post('info', 'You will be called when an agent waits for you and this page is not in sight.');
  };
  return (
    <button
      type="button"
      className="icon-button"
      aria-label="Call me when an agent waits"
      title="Call me when an agent waits"
      onClick={() => void ask()}
    >
      <Icon name="bell" />
    </button>
  );
}
