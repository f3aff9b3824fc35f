import type { SuspendEvent } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Icon } from '../shell/icon.tsx';
import { lastingOptions } from './consent-options.ts';
import type { FormProps } from './request-card.tsx';
import { useCardKeys } from './use-card-keys.ts';

/** Something the agent will do only if it may. */
export function ApprovalForm({
  event,
  isSending,
  onAnswer,
}: FormProps<Extract<SuspendEvent, { type: 'queryConsent' }>>): ReactNode {
  const answer = (isApproved: boolean): void => {
    if (!isSending) onAnswer(isApproved);
  };
  const keys = useCardKeys((key) => {
    if (key !== 'y' && key !== 'n') return false;
    answer(key === 'y');
    return true;
  });
  return (
    <fieldset className="approval" ref={keys} tabIndex={-1} data-answer-field aria-label="Decision">
      <button type="button" className="button approve" disabled={isSending} onClick={() => answer(true)}>
        <Icon name="check" />
        Approve
        <kbd aria-hidden="true">y</kbd>
      </button>
      <button type="button" className="button deny" disabled={isSending} onClick={() => answer(false)}>
        <Icon name="close" />
        Deny
        <kbd aria-hidden="true">n</kbd>
      </button>
      {lastingOptions(event.scope).map(({ id, name }) => (
        <button key={id} type="button" className="button" disabled={isSending} onClick={() => onAnswer(id)}>
          {name}
        </button>
      ))}
    </fieldset>
  );
}
