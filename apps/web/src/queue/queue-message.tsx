import { type Message, textOf } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { useMay } from '../people/may.ts';
import { Icon, type IconName } from '../shell/icon.tsx';
import type { QueueActions } from './use-queue.ts';

type Props = {
  readonly message: Message;
  readonly isBusy: boolean;
  readonly canMoveUp: boolean;
  readonly canMoveDown: boolean;
  readonly actions: QueueActions;
  /** The form in which it is edited, while it is. */
  readonly form: ReactNode;
  readonly onEdit: (content: string) => void;
};

/** One message that waits. Once it is being handed over it can no longer be changed. */
export function QueueMessage(props: Props): ReactNode {
  const { message, isBusy, actions, form, onEdit } = props;
  const mayChange = useMay('member');
  const isFree = mayChange && canEdit(message);
  const isEditing = isFree && form !== undefined;
  const { content, parts } = message;
  return (
    <li className="queue-message" data-state={stateOf(message)} aria-busy={isBusy}>
      {isEditing ? form : <p className="queue-text">{content}</p>}
      <Remark message={message} />
      {mayChange && message.uncertain === true && (
        <div className="queue-actions">
          <button type="button" className="button small" onClick={() => void actions.settle(message.id, 'resend')}>
            Resend
          </button>
          <button type="button" className="button small" onClick={() => void actions.settle(message.id, 'drop')}>
            Drop
          </button>
        </div>
      )}
      {isFree && !isEditing && (
        <FreeActions {...props} onEdit={() => onEdit(parts === undefined ? content : textOf({ parts }))} />
      )}
    </li>
  );
}

function FreeActions({
  message,
  isBusy,
  canMoveUp,
  canMoveDown,
  actions,
  onEdit,
}: Omit<Props, 'onEdit'> & { onEdit: () => void }): ReactNode {
  const { id, priority } = message;
  const button = (label: string, icon: IconName, onClick: () => void, isOff = false): ReactNode => (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      aria-disabled={isBusy || isOff}
      onClick={() => !isBusy && !isOff && onClick()}
    >
      <Icon name={icon} />
    </button>
  );
  return (
    <div className="queue-actions">
      {priority === 'queued' && button('Move up', 'up', () => void actions.move(id, -1), !canMoveUp)}
      {priority === 'queued' && button('Move down', 'down', () => void actions.move(id, 1), !canMoveDown)}
      {priority === 'queued' && button('Steer with it now', 'bolt', () => void actions.promote(id))}
      {button('Edit', 'edit', onEdit)}
      {button('Unsend', 'close', () => void actions.unsend(id))}
    </div>
  );
}

function Remark({ message }: { readonly message: Message }): ReactNode {
  if (message.uncertain === true) {
    return (
      <p className="queue-remark" data-tone="attention">
        <Icon name="warning" />
        The agent was lost while it was being told. It may or may not have read this.
      </p>
    );
  }
  if (message.inFlight === true) {
    return (
      <p className="queue-remark">
        <Icon name="lock" />
        Being delivered
      </p>
    );
  }
  return message.reason === undefined ? null : <p className="queue-remark">{message.reason}</p>;
}

/** Until it is being handed over. */
export function canEdit(message: Message): boolean {
  return message.inFlight !== true && message.uncertain !== true;
}

function stateOf(message: Message): string {
  if (message.uncertain === true) return 'uncertain';
  return message.inFlight === true ? 'in-flight' : 'pending';
}
