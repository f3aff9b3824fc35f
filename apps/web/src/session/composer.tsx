import type { MessagePriority, SessionStatus } from '@concerto/protocol';
import { messageLengthMax } from '@concerto/protocol';
import { type KeyboardEvent, type ReactNode, type Ref, useEffect, useRef, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { Icon } from '../shell/icon.tsx';
import { forgetDraft, keepDraft, keptDraft } from './draft-store.ts';
import { isOver } from './lifecycle-table.ts';

type Props = {
  readonly id: string;
  readonly status: SessionStatus;
  readonly canSteer: boolean;
  readonly fieldRef: Ref<HTMLTextAreaElement>;
  readonly onSent: () => void;
};

/** Says something to the agent: now, into what it does, or later, as its next task. */
export function Composer({ id, status, canSteer, fieldRef, onSent }: Props): ReactNode {
  const [text, setText] = useState(() => keptDraft(id));
  const [problem, setProblem] = useState<string>();
  const [isSending, setSending] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  useGrowing(field, text);
  const write = (next: string): void => {
    setText(next);
    keepDraft(id, next);
  };
  const send = async (priority: MessagePriority): Promise<void> => {
    const content = text.trim();
    if (content === '' || isSending) return;
    setSending(true);
    setProblem(undefined);
    try {
      await client.send(id, { content, priority });
      setText('');
      forgetDraft(id);
      onSent();
    } catch (cause) {
      setProblem(failureOf(cause).text);
    } finally {
      setSending(false);
      field.current?.focus();
    }
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') field.current?.blur();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send((event.ctrlKey || event.metaKey) && status !== 'idle' ? 'immediate' : 'queued');
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
      <textarea
        ref={(element) => {
          field.current = element;
          assign(fieldRef, element);
        }}
        rows={1}
        value={text}
        maxLength={messageLengthMax}
        aria-label="Message"
        placeholder={placeholderOf(status)}
        onChange={(event) => write(event.target.value)}
        onKeyDown={press}
      />
      <div className="composer-actions">
        <p className="hint">{hintOf(status, canSteer)}</p>
        {status !== 'idle' && (
          <button
            type="button"
            className="button steer"
            disabled={isEmpty || isSending}
            title="Say it now, in the running turn (Ctrl+Enter)"
            onClick={() => void send('immediate')}
          >
            <Icon name="bolt" />
            Steer
          </button>
        )}
        <button
          type="button"
          className="button primary"
          disabled={isEmpty || isSending}
          title={status === 'idle' ? 'Send (Enter)' : 'Deliver after the running turn (Enter)'}
          onClick={() => void send('queued')}
        >
          <Icon name={status === 'idle' ? 'send' : 'queue'} />
          {status === 'idle' ? 'Send' : 'Queue'}
        </button>
      </div>
    </form>
  );
}

function placeholderOf(status: SessionStatus): string {
  return status === 'idle' ? 'What next?' : 'Steer the agent now, or queue its next task …';
}

function hintOf(status: SessionStatus, canSteer: boolean): string {
  if (status === 'idle') return 'Enter to send';
  if (status === 'interrupted') return 'The queue stands still until you send a message or resume';
  if (status === 'paused') return 'Messages are held until you resume';
  if (!canSteer) return 'This agent takes no steering in mid-turn: it comes first in the next turn';
  return 'Enter queues · Ctrl+Enter steers';
}

function assign<T>(ref: Ref<T>, value: T | null): void {
  if (typeof ref === 'function') ref(value);
  else if (ref !== null) ref.current = value;
}

/** As high as its text, up to what the style sheet allows. */
function useGrowing(field: { readonly current: HTMLTextAreaElement | null }, text: string): void {
  useEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight + 2}px`;
  }, [field, text]);
}
