import type { MessagePriority } from '@concerto/protocol';
import { useRef, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { forgetDraft, keepDraft, keptDraft } from './draft-store.ts';

/**
 * What is being written to a session, and the way out. The field is free again at once; what is sent goes one after
 * the other, in the order in which it was written; what could not be sent comes back into the field.
 */
export function useSender(id: string, onSent: () => void) {
  const [text, setText] = useState(() => keptDraft(id));
  const [problem, setProblem] = useState<string>();
  const before = useRef(Promise.resolve());
  const write = (next: string): void => {
    setText(next);
    keepDraft(id, next);
  };
  const send = (priority: MessagePriority): void => {
    const content = text.trim();
    if (content === '') return;
    setText('');
    setProblem(undefined);
    before.current = before.current.then(async () => {
      try {
        await client.send(id, { content, priority });
        // Unless something else is being written by now.
        if (keptDraft(id).trim() === content) forgetDraft(id);
        onSent();
      } catch (cause) {
        setProblem(failureOf(cause).text);
        setText((now) => (now === '' ? content : `${content}\n${now}`));
      }
    });
  };
  return { text, problem, write, send };
}
