import type { SuspendEvent } from '@concerto/protocol';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { textAnswer } from './answer-text.ts';
import type { FormProps } from './request-card.tsx';

/** A question that is answered in words. */
export function QuestionForm({
  isSending,
  onAnswer,
}: FormProps<Extract<SuspendEvent, { type: 'waitForInput' }>>): ReactNode {
  return <TextAnswer label="Your answer" isSending={isSending} onText={(text) => onAnswer(textAnswer(text))} />;
}

type Props = { readonly label: string; readonly isSending: boolean; readonly onText: (text: string) => void };

export function TextAnswer({ label, isSending, onText }: Props): ReactNode {
  const [text, setText] = useState('');
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
        onChange={(event) => setText(event.target.value)}
        onKeyDown={press}
      />
      <button type="submit" className="button primary" disabled={isSending || text.trim() === ''}>
        Answer
      </button>
    </form>
  );
}
