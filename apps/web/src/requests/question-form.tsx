import type { SuspendEvent } from '@concerto/protocol';
import type { KeyboardEvent, ReactNode } from 'react';
import { useDraft } from '../shell/use-draft.ts';
import { textAnswer } from './answer-text.ts';
import type { FormProps } from './request-card.tsx';

/** A question that is answered in words. */
export function QuestionForm({
  event,
  isSending,
  onAnswer,
}: FormProps<Extract<SuspendEvent, { type: 'waitForInput' }>>): ReactNode {
  const { requestId } = event;
  const send = (text: string): void => onAnswer(textAnswer(text));
  return <TextAnswer label="Your answer" requestId={requestId} isSending={isSending} onText={send} />;
}

type Props = {
  readonly label: string;
  readonly requestId: string;
  readonly isSending: boolean;
  readonly onText: (text: string) => void;
};

export function TextAnswer({ label, requestId, isSending, onText }: Props): ReactNode {
  const [text, write] = useDraft(requestId);
  const send = (): void => {
    if (text.trim() !== '' && !isSending) onText(text.trim());
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      className="text-answer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        rows={Math.min(6, text.split('\n').length)}
        aria-label={label}
        placeholder={`${label} …`}
        value={text}
        data-answer-field
        onChange={(event) => write(event.target.value)}
        onKeyDown={press}
      />
      <button type="submit" className="button primary" disabled={isSending || text.trim() === ''}>
        Answer
      </button>
    </form>
  );
}
