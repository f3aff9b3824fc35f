import type { Json } from '@concerto/base';
import type { LlmContent, MessagePriority, Part } from '@concerto/protocol';
import { useRef, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { forgetDraft, keepDraft, keptDraft } from '../shell/draft-store.ts';

/** As a message of a lane, or as an answer. */
export type SendWay = MessagePriority | Answer;

/** To a request; a no with why. */
export type Answer = { readonly answer: Json; readonly to: string; readonly reason?: string | undefined };

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
  const send = (way: SendWay, files: readonly Part[], bringBack: () => void): void => {
    const content = text.trim();
    if (content === '' && files.length === 0) return;
    setText('');
    setProblem(undefined);
    before.current = before.current.then(async () => {
      try {
        if (typeof way === 'string') await client.send(id, { content: saidWith(content, files), priority: way });
        else if (files.length > 0) await client.answer(id, way.to, jsonOf(saidWith(content, files)));
        else await client.answer(id, way.to, way.answer, way.reason === undefined ? {} : { reason: way.reason });
        // Unless something else is being written by now.
        if (keptDraft(id).trim() === content) forgetDraft(id);
        onSent();
      } catch (cause) {
        setProblem(failureOf(cause).text);
        setText((now) => (now === '' ? content : `${content}\n${now}`));
        bringBack();
      }
    });
  };
  return { text, problem, write, send };
}

function saidWith(text: string, files: readonly Part[]): string | LlmContent {
  if (files.length === 0) return text;
  return { role: 'user', parts: [...(text === '' ? [] : [{ text }]), ...files] };
}

function jsonOf(content: string | LlmContent): Json {
  return JSON.parse(JSON.stringify(content));
}
