import type { Message } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { failureOf } from '../fetching/failure.ts';
import { EditForm } from './edit-form.tsx';
import { QueueHistory } from './queue-history.tsx';
import { canEdit, QueueMessage } from './queue-message.tsx';
import { movable } from './queue-order.ts';
import type { Queue } from './use-queue.ts';

/** What somebody makes of a message. It is theirs, also when the message is handed over meanwhile. */
type Edit = { readonly id: string; readonly before: string; readonly text: string };

/** Shows what the agent has not read yet, in the order in which it will. */
export function QueuePanel({ list, error, busy, actions }: Queue): ReactNode {
  const [edit, setEdit] = useState<Edit>();
  if (list === undefined) {
    return (
      <section className="panel" aria-labelledby="queue-title">
        <h2 id="queue-title">Queue</h2>
        <p className="muted">{error === undefined ? 'Loading …' : failureOf(error).text}</p>
      </section>
    );
  }
  const { pending, history = [] } = list;
  const order = movable(pending);
  const isLate = edit !== undefined && !pending.some((message) => message.id === edit.id && canEdit(message));
  const save = async ({ id, before }: Edit, text: string): Promise<void> => {
    if (text === before || (await actions.edit(id, text))) setEdit(undefined);
  };
  const form = edit !== undefined && (
    <EditForm
      text={edit.text}
      isLate={isLate}
      onWrite={(text) => setEdit({ ...edit, text })}
      onCancel={() => setEdit(undefined)}
      onSave={(text) => void save(edit, text)}
    />
  );
  const row = (message: Message): ReactNode => {
    const place = order.indexOf(message.id);
    return (
      <QueueMessage
        key={message.id}
        message={message}
        isBusy={busy === message.id}
        canMoveUp={place > 0}
        canMoveDown={place !== -1 && place < order.length - 1}
        actions={actions}
        form={edit?.id === message.id ? form : undefined}
        onEdit={(text) => setEdit({ id: message.id, before: text, text })}
      />
    );
  };
  const immediate = pending.filter((message) => message.priority === 'immediate');
  const queued = pending.filter((message) => message.priority === 'queued');
  return (
    <section className="panel" aria-labelledby="queue-title">
      <h2 id="queue-title">
        Queue <span className="count">{pending.length}</span>
      </h2>
      {isLate && (
        <div className="queue-message late-edit">
          <output className="queue-remark" data-tone="attention">
            Too late: this message is not in the queue any more. What you wrote is still here.
          </output>
          {form}
        </div>
      )}
      {pending.length === 0 && <p className="muted">Nothing waits. What you queue is delivered one message a turn.</p>}
      <Lane title="Steering" help="before everything else" messages={immediate} row={row} />
      <Lane title="Queued" help="one a turn, in this order" messages={queued} row={row} />
      <QueueHistory history={history} />
    </section>
  );
}

type LaneProps = {
  readonly title: string;
  readonly help: string;
  readonly messages: readonly Message[];
  readonly row: (message: Message) => ReactNode;
};

function Lane({ title, help, messages, row }: LaneProps): ReactNode {
  if (messages.length === 0) return null;
  return (
    <>
      <h3 className="lane-title">
        {title} <span className="muted">{help}</span>
      </h3>
      <ol className="lane" data-lane={title.toLowerCase()} aria-label={`${title} messages`}>
        {messages.map(row)}
      </ol>
    </>
  );
}
