import type { SessionStatus } from '@concerto/protocol';
import { messageLengthMax } from '@concerto/protocol';
import type { KeyboardEvent, ReactNode, Ref } from 'react';
import { GrowingField } from '../shell/growing-field.tsx';
import { Icon } from '../shell/icon.tsx';
import { isOver } from './lifecycle-table.ts';
import { useSender } from './use-sender.ts';

type Props = {
  readonly id: string;
  readonly status: SessionStatus;
  readonly canSteer: boolean;
  readonly fieldRef: Ref<HTMLTextAreaElement | null>;
  readonly onSent: () => void;
};

/** Says something to the agent: now, into what it does, or later, as its next task. */
export function Composer({ id, status, canSteer, fieldRef, onSent }: Props): ReactNode {
  const { text, problem, write, send } = useSender(id, onSent);
  // Between two turns there is nothing to steer and nothing to queue behind.
  const isBetween = status === 'idle' || status === 'interrupted';
  const press = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.key === 'Escape') event.currentTarget.blur();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send((event.ctrlKey || event.metaKey) && !isBetween ? 'immediate' : 'queued');
  };
  if (isOver(status)) return <p className="composer-closed">This session is over. Start a new one to go on.</p>;
  const isEmpty = text.trim() === '';
  return (
    <form className="composer" aria-label="Message to the agent" onSubmit={(event) => event.preventDefault()}>
      {problem !== undefined && (
        <p className="inline-problem" role="alert">
          {problem}
        </p>
      )}
      <GrowingField
        fieldRef={fieldRef}
        value={text}
        maxLength={messageLengthMax}
        aria-label="Message"
        placeholder={isBetween ? 'What next?' : 'Steer the agent now, or queue its next task …'}
        onChange={(event) => write(event.target.value)}
        onKeyDown={press}
      />
      <div className="composer-actions">
        <p className="hint">{hintOf(status, canSteer)}</p>
        {!isBetween && (
          <button
            type="button"
            className="button steer"
            disabled={isEmpty}
            title="Say it now, in the running turn (Ctrl+Enter)"
            onClick={() => send('immediate')}
          >
            <Icon name="bolt" />
            Steer
          </button>
        )}
        <button
          type="button"
          className="button primary"
          disabled={isEmpty}
          title={isBetween ? 'Send (Enter)' : 'Deliver after the running turn (Enter)'}
          onClick={() => send('queued')}
        >
          <Icon name={isBetween ? 'send' : 'queue'} />
          {isBetween ? 'Send' : 'Queue'}
        </button>
      </div>
    </form>
  );
}

function hintOf(status: SessionStatus, canSteer: boolean): string {
  if (status === 'idle') return 'Enter to send';
  if (status === 'interrupted') return 'Enter to send; the queue stands still until you do, or resume';
  if (status === 'paused') return 'Messages are held until you resume';
  if (!canSteer) return 'This agent takes no steering in mid-turn: it comes first in the next turn';
  return 'Enter queues · Ctrl+Enter steers';
}
