import { type Message, textOf } from '@concerto/protocol';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { useMay } from '../people/may.ts';
import { Icon, type IconName } from '../shell/icon.tsx';
import type { QueueActions } from './use-queue.ts';

type Props = {
  readonly message: Message;
  readonly isBusy: boolean;
  readonly canMoveUp: boolean;
  readonly canMoveDown: boolean;
  readonly actions: QueueActions;
};

/** One message that waits. Once it is being handed over it can no longer be changed. */
export function QueueMessage(props: Props): ReactNode {
  const { message, isBusy, actions } = props;
  const [isEditing, setEditing] = useState(false);
  const mayChange = useMay('member');
  const isFree = mayChange && message.inFlight !== true && message.uncertain !== true;
  return (
    <li className="queue-message" data-state={stateOf(message)} aria-busy={isBusy}>
      {isEditing && isFree ? (
        <EditForm
          content={message.parts === undefined ? message.content : textOf({ parts: message.parts })}
          onCancel={() => setEditing(false)}
          onSave={async (content) => {
            if (content === message.content || (await actions.edit(message.id, content))) setEditing(false);
          }}
        />
      ) : (
        <p className="queue-text">{message.content}</p>
      )}
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
      {isFree && !isEditing && <FreeActions {...props} onEdit={() => setEditing(true)} />}
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
}: Props & { onEdit: () => void }): ReactNode {
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

type EditProps = {
  readonly content: string;
  readonly onSave: (content: string) => Promise<void>;
  readonly onCancel: () => void;
};

function EditForm({ content, onSave, onCancel }: EditProps): ReactNode {
  const [text, setText] = useState(content);
  const save = (): void => {
    if (text.trim() !== '') void onSave(text.trim());
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onCancel();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    save();
  };
  return (
    <div className="queue-edit">
      <textarea
        ref={(field) => field?.focus()}
        aria-label="Edit message"
        rows={Math.min(8, text.split('\n').length + 1)}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={press}
      />
      <div className="queue-actions">
        <button type="button" className="button small primary" disabled={text.trim() === ''} onClick={save}>
          Save
        </button>
        <button type="button" className="button small" onClick={onCancel}>
          Keep as it was
        </button>
      </div>
    </div>
  );
}

function stateOf(message: Message): string {
  if (message.uncertain === true) return 'uncertain';
  return message.inFlight === true ? 'in-flight' : 'pending';
}
