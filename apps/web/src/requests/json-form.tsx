import type { Json } from '@concerto/base';
import { type ReactNode, useState } from 'react';
import type { FormProps } from './request-card.tsx';

/** A request that programs answer as a rule; a person can, in JSON. */
export function JsonForm({ isSending, onAnswer }: FormProps): ReactNode {
  const [text, setText] = useState('');
  const parsed = parse(text);
  return (
    <form
      className="text-answer"
      onSubmit={(event) => {
        event.preventDefault();
        if (parsed !== undefined) onAnswer(parsed);
      }}
    >
      <textarea
        rows={3}
        aria-label="Answer in JSON"
        placeholder="Answer in JSON …"
        value={text}
        data-answer-field
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="button primary" disabled={isSending || parsed === undefined}>
        Answer
      </button>
    </form>
  );
}

function parse(text: string): Json | undefined {
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what JSON.parse returns is JSON
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // Not JSON yet: the button stays off.
  }
}
