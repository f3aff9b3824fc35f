import type { Json } from '@concerto/base';
import { readDecision, type SuspendEvent } from '@concerto/protocol';
import { textAnswer } from '../requests/answer-text.ts';
import { questionText } from '../requests/question-text.ts';

/** The open request that what is being written would answer, and how. */
export type Addressee = {
  readonly requestId: string;
  readonly question: string;
  /** What the text does, before it is sent. */
  readonly saying: string;
  readonly verb: string;
  readonly response: Json;
};

/** Undefined when nothing waits that words can answer. */
export function addresseeOf(open: SuspendEvent | undefined, text: string): Addressee | undefined {
  if (open === undefined) return undefined;
  const { requestId } = open;
  const said = text.trim();
  const question = questionText(open);
  switch (open.type) {
    case 'waitForInput':
    case 'waitForChoice':
      return { requestId, question, saying: 'Answers', verb: 'Answer', response: textAnswer(said) };
    case 'queryConsent': {
      const { isApproved, reason } = readDecision(said);
      if (isApproved) return { requestId, question, saying: 'Approves', verb: 'Approve', response: true };
      const verb = reason === undefined ? 'Deny' : 'Deny with this reason';
      const response: Json = reason === undefined ? false : { approved: false, reason };
      return {
        requestId,
        question,
        saying: 'Denies',
        verb,
        response,
      };
    }
    case 'readGraph':
    case 'inspectNode':
    case 'applyEdits':
      return undefined;
  }
}
