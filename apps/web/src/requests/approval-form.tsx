import type { Json } from '@concerto/base';
import { canBeKnownAgain, isAnyCall, reasonLengthMax, rememberedText, type SuspendEvent } from '@concerto/protocol';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { toggleDiffMode } from '../diff/diff-mode.ts';
import { useMay } from '../people/may.ts';
import { Icon } from '../shell/icon.tsx';
import { useDraft } from '../shell/use-draft.ts';
import { lastingOptions } from './consent-options.ts';
import type { Beside, FormProps } from './request-card.tsx';
import { useCardKeys } from './use-card-keys.ts';

/** Something the agent will do only if it may. */
export function ApprovalForm({
  event,
  isSending,
  onAnswer,
}: FormProps<Extract<SuspendEvent, { type: 'queryConsent' }>>): ReactNode {
  const [isExplaining, setExplaining] = useState(false);
  const [isAdding, setAdding] = useState(false);
  const lasting = lastingOptions(event);
  const mayAlways = useMay('owner');
  const canRemember = lasting.length === 0 && canBeKnownAgain(event);
  const answer = (response: Json, beside?: Beside): void => {
    if (!isSending) onAnswer(response, beside);
  };
  const keys = useCardKeys((key) => {
    const option = lasting[Number(key) - 1];
    if (key === 'y') answer(true);
    else if (key === 'n') answer(false);
    else if (key === 'r') setExplaining(true);
    else if (key === 'v') toggleDiffMode();
    else if (option !== undefined) answer(option.id);
    else if (canRemember && key === 's') answer(true, { remember: 'session' });
    else if (canRemember && mayAlways && key === 'l') setAdding(true);
    else return false;
    return true;
  });
  return (
    <fieldset className="approval" ref={keys} tabIndex={-1} data-answer-field aria-label="Decision">
      <DecisionButtons
        isSending={isSending}
        isExplaining={isExplaining}
        onDecide={answer}
        onExplain={() => setExplaining(!isExplaining)}
      />
      <LastingButtons options={lasting} isSending={isSending} onChoose={answer} />
      {canRemember && (
        <RememberButtons
          event={event}
          isSending={isSending}
          isAdding={isAdding}
          onSession={() => answer(true, { remember: 'session' })}
          onAlways={() => setAdding(!isAdding)}
        />
      )}
      {isAdding && (
        <RulePreview
          event={event}
          isSending={isSending}
          onAdd={() => answer(true, { remember: 'always' })}
          onLeave={() => {
            setAdding(false);
            keys.current?.focus();
          }}
        />
      )}
      {isExplaining && (
        <ReasonField
          requestId={event.requestId}
          isSending={isSending}
          onReason={(reason) => answer(false, { reason })}
          onLeave={() => {
            setExplaining(false);
            keys.current?.focus();
          }}
        />
      )}
    </fieldset>
  );
}

type LastingProps = {
  readonly options: ReturnType<typeof lastingOptions>;
  readonly isSending: boolean;
  readonly onChoose: (id: string) => void;
};

/** The agent's own ways to allow or refuse for longer. */
function LastingButtons({ options, isSending, onChoose }: LastingProps): ReactNode {
  return options.map(({ id, label }, index) => (
    <button key={id} type="button" className="button" disabled={isSending} onClick={() => onChoose(id)}>
      {label}
      <kbd aria-hidden="true">{index + 1}</kbd>
    </button>
  ));
}

type DecisionProps = {
  readonly isSending: boolean;
  readonly isExplaining: boolean;
  readonly onDecide: (isApproved: boolean) => void;
  readonly onExplain: () => void;
};

function DecisionButtons({ isSending, isExplaining, onDecide, onExplain }: DecisionProps): ReactNode {
  return (
    <>
      <button type="button" className="button approve" disabled={isSending} onClick={() => onDecide(true)}>
        <Icon name="check" />
        Approve
        <kbd aria-hidden="true">y</kbd>
      </button>
      <button type="button" className="button deny" disabled={isSending} onClick={() => onDecide(false)}>
        <Icon name="close" />
        Deny
        <kbd aria-hidden="true">n</kbd>
      </button>
      <button type="button" className="button" disabled={isSending} aria-expanded={isExplaining} onClick={onExplain}>
        Deny with a reason
        <kbd aria-hidden="true">r</kbd>
      </button>
    </>
  );
}

type ConsentEvent = Extract<SuspendEvent, { type: 'queryConsent' }>;
type RememberProps = {
  readonly event: ConsentEvent;
  readonly isSending: boolean;
  readonly isAdding: boolean;
  readonly onSession: () => void;
  readonly onAlways: () => void;
};

/** The same is then allowed by a rule, which `concerto rules` lists. */
function RememberButtons({ event, isSending, isAdding, onSession, onAlways }: RememberProps): ReactNode {
  const mayAlways = useMay('owner');
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={isSending}
        title={`Approves, and until this session ends also: ${rememberedText(event)}`}
        onClick={onSession}
      >
        Allow for this session
        <kbd aria-hidden="true">s</kbd>
      </button>
      {mayAlways && (
        <button type="button" className="button" disabled={isSending} aria-expanded={isAdding} onClick={onAlways}>
          Always allow this
          <kbd aria-hidden="true">l</kbd>
        </button>
      )}
    </>
  );
}

type RuleProps = {
  readonly event: ConsentEvent;
  readonly isSending: boolean;
  readonly onAdd: () => void;
  readonly onLeave: () => void;
};

/** What would be allowed from now on, before it is. */
function RulePreview({ event, isSending, onAdd, onLeave }: RuleProps): ReactNode {
  return (
    <div className="rule-preview">
      <p>
        Allowed from now on in every session of this agent: <code>{rememberedText(event)}</code>
        {isAnyCall(event) && ', whatever it is given'}
      </p>
      <button
        ref={(button) => button?.focus()}
        type="button"
        className="button"
        disabled={isSending}
        title="Approves, and adds the rule; Settings lists it"
        onKeyDown={(press) => press.key === 'Escape' && onLeave()}
        onClick={onAdd}
      >
        Approve and add this rule
      </button>
    </div>
  );
}

type ReasonProps = {
  readonly requestId: string;
  readonly isSending: boolean;
  readonly onReason: (reason: string) => void;
  readonly onLeave: () => void;
};

/** What the agent is told with the no, so that it does better. */
function ReasonField({ requestId, isSending, onReason, onLeave }: ReasonProps): ReactNode {
  const [reason, write] = useDraft(requestId);
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onLeave();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (reason.trim() !== '') onReason(reason.trim());
  };
  return (
    <div className="text-answer reason">
      <textarea
        ref={(field) => field?.focus()}
        rows={1}
        aria-label="Reason"
        placeholder="What should it do instead?"
        maxLength={reasonLengthMax}
        value={reason}
        onChange={(event) => write(event.target.value)}
        onKeyDown={press}
      />
      <button
        type="button"
        className="button deny"
        disabled={isSending || reason.trim() === ''}
        onClick={() => onReason(reason.trim())}
      >
        Deny with this
      </button>
    </div>
  );
}
