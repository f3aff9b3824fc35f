import type { SuspendEvent } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Icon } from '../shell/icon.tsx';
import { useConfirm } from '../shell/use-confirm.ts';
import type { FormProps } from './request-card.tsx';
import { useCardKeys } from './use-card-keys.ts';

/** The session has used what it may: as much again, or its end, which is for good and asked for twice. */
export function BudgetForm({
  isSending,
  onAnswer,
}: FormProps<Extract<SuspendEvent, { type: 'queryConsent' }>>): ReactNode {
  const { isConfirming, isMeant } = useConfirm();
  const answer = (response: 'more' | 'stop'): void => {
    if (!isSending && (response === 'more' || isMeant())) onAnswer(response);
  };
  const keys = useCardKeys((key) => {
    if (key === 'y') answer('more');
    else if (key === 'n') answer('stop');
    else return false;
    return true;
  });
  return (
    <fieldset className="approval" ref={keys} tabIndex={-1} data-answer-field aria-label="Decision">
      <button type="button" className="button approve" disabled={isSending} onClick={() => answer('more')}>
        <Icon name="check" />
        As much again
        <kbd aria-hidden="true">y</kbd>
      </button>
      <button
        type="button"
        className="button deny"
        data-confirming={isConfirming}
        disabled={isSending}
        onClick={() => answer('stop')}
      >
        <Icon name="close" />
        {isConfirming ? 'End it for good?' : 'Stop the session'}
        <kbd aria-hidden="true">n</kbd>
      </button>
    </fieldset>
  );
}
