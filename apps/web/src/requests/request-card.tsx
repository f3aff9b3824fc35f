import { type Json, unreachable } from '@concerto/base';
import type { AnswerRequest, RequestEntry, SuspendEvent } from '@concerto/protocol';
import { type ReactNode, useContext, useRef, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useMay } from '../people/may.ts';
import { Icon, type IconName } from '../shell/icon.tsx';
import { useForgottenDraft } from '../shell/use-draft.ts';
import { Lasting, Remaining } from '../time/moment.tsx';
import { NestedIn } from '../timeline/nested-in.ts';
import { ApprovalForm } from './approval-form.tsx';
import { BudgetForm } from './budget-form.tsx';
import { ChoiceForm } from './choice-form.tsx';
import { GraphForm } from './graph-form.tsx';
import { QuestionForm } from './question-form.tsx';
import { questionText } from './question-text.ts';
import { RequestPrompt } from './request-prompt.tsx';
import { RoutedLine } from './routed-line.tsx';
import { SettledNote } from './settled-note.tsx';

/** Of several that are open, a name must say which. */
const nameMax = 120;

type Props = {
  readonly sessionId: string;
  readonly item: RequestEntry;
};

/** What goes with an answer: why, and for how long. */
export type Beside = Omit<AnswerRequest, 'response'>;

export type FormProps<Event extends SuspendEvent = SuspendEvent> = {
  readonly event: Event;
  readonly isSending: boolean;
  readonly onAnswer: (response: Json, beside?: Beside) => void;
};

/** Something the agent waits for. It is open until the events say that it is not, whoever answered. */
export function RequestCard({ sessionId, item }: Props): ReactNode {
  const { event, settled, at, routed } = item;
  const [problem, setProblem] = useState<string>();
  const [isSending, setSending] = useState(false);
  const card = useRef<HTMLElement>(null);
  const send = async (response: Json, beside: Beside = {}): Promise<void> => {
    setSending(true);
    setProblem(undefined);
    try {
      await client.answer(sessionId, event.requestId, response, beside);
      // The form goes away; who answered by keyboard stays where they were.
      card.current?.focus();
    } catch (cause) {
      setProblem(failureOf(cause).text);
      setSending(false);
    }
  };
  const isOpen = settled === undefined;
  useForgottenDraft(event.requestId, !isOpen);
  const owner = useContext(NestedIn);
  const { icon, title } = looksOf(event);
  return (
    <section
      ref={card}
      tabIndex={-1}
      className="request"
      id={`request-${event.requestId}`}
      data-open={isOpen}
      data-kind={event.type}
      data-risk={riskOf(event)}
      // What is settled is no place that one looks for.
      {...(isOpen ? {} : { role: 'group' })}
      aria-label={isOpen ? `${title}${waitsText(owner)}: ${questionText(event).slice(0, nameMax)}` : title}
    >
      <header className="request-head">
        <Icon name={icon} />
        <span className="request-title">{title}</span>
        {riskOf(event) !== undefined && <span className="risk">Risk: {riskOf(event)}</span>}
        {settled === undefined && (
          <span className="request-since">
            waits <Lasting since={at} />
            <RunsOut at={routed.at(-1)?.expiresAt} />
          </span>
        )}
      </header>
      <RequestPrompt key={String(isOpen)} event={event} isOpen={isOpen} />
      <RoutedLine routed={routed} settledBy={settled?.by} />
      {problem !== undefined && settled === undefined && (
        <p className="inline-problem" role="alert">
          {problem}
        </p>
      )}
      {settled === undefined ? (
        <Form
          event={event}
          sessionId={sessionId}
          isSending={isSending}
          onAnswer={(response, beside) => void send(response, beside)}
        />
      ) : (
        <SettledNote event={event} settled={settled} />
      )}
    </section>
  );
}

function RunsOut({ at }: { readonly at: string | undefined }): ReactNode {
  if (at === undefined) return null;
  return (
    <>
      {' '}
      · runs out in <Remaining until={at} />
    </>
  );
}

/** In the timeline of another: its own may ask the same at once. */
function waitsText(owner: string): string {
  return owner === '' ? ', waits for your answer' : ` of ${owner}, waits for an answer`;
}

function Form(props: FormProps & { readonly sessionId: string }): ReactNode {
  const { event, sessionId, ...rest } = props;
  const mayAnswer = useMay('member');
  if (!mayAnswer) return <p className="muted">It waits for somebody who may answer: you may not.</p>;
  switch (event.type) {
    case 'waitForInput':
      return <QuestionForm event={event} {...rest} />;
    case 'waitForChoice':
      return <ChoiceForm event={event} {...rest} />;
    case 'queryConsent':
      return event.consentType === 'budget' ? (
        <BudgetForm event={event} {...rest} />
      ) : (
        <ApprovalForm event={event} {...rest} />
      );
    case 'readGraph':
    case 'inspectNode':
    case 'applyEdits':
      return <GraphForm event={event} sessionId={sessionId} {...rest} />;
    default:
      return unreachable(event);
  }
}

function looksOf(event: SuspendEvent): { readonly icon: IconName; readonly title: string } {
  if (event.type === 'queryConsent') {
    return { icon: 'shield', title: event.consentType === 'budget' ? 'Budget' : 'Approval' };
  }
  if (event.type === 'waitForChoice') return { icon: 'question', title: 'Choice' };
  return { icon: 'question', title: event.type === 'waitForInput' ? 'Question' : 'Request' };
}

function riskOf(event: SuspendEvent): string | undefined {
  const level = event.type === 'queryConsent' ? event.scope.risk_level : undefined;
  return typeof level === 'string' ? level : undefined;
}
