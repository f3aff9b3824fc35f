import { readDecision, type SuspendEvent } from '@concerto/protocol';
import { textAnswer } from '../requests/answer-text.ts';
import { questionText } from '../requests/question-text.ts';
import type { Answer } from './use-sender.ts';

/** The open request that what is being written would answer, and how. */
export type Addressee = {
  readonly question: string;
  /** What the text does, before it is sent. */
  readonly saying: string;
  readonly verb: string;
  readonly answer: Answer;
};

/** Undefined when nothing waits that words can answer. */
export function addresseeOf(open: SuspendEvent | undefined, text: string): Addressee | undefined {
  if (open === undefined) return undefined;
  const to = open.requestId;
  const said = text.trim();
  const question = questionText(open);
  switch (open.type) {
    case 'waitForInput':
    case 'waitForChoice':
      return { question, saying: 'Answers', verb: 'Answer', answer: { answer: textAnswer(said), to } };
    case 'queryConsent': {
      // More or stop: its card has both, and words would be a guess.
      if (open.consentType === 'budget') return undefined;
      const { isApproved, reason } = readDecision(said);
      if (isApproved) return { question, saying: 'Approves', verb: 'Approve', answer: { answer: true, to } };
      const verb = reason === undefined ? 'Deny' : 'Deny with this reason';
      return { question, saying: 'Denies', verb, answer: { answer: false, to, reason } };
    }
    case 'readGraph':
    case 'inspectNode':
    case 'applyEdits':
      return undefined;
  }
}
