import { type SuspendEvent, textOf } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { textAnswer } from './answer-text.ts';
import { TextAnswer } from './question-form.tsx';
import type { FormProps } from './request-card.tsx';
import { useCardKeys } from './use-card-keys.ts';

type ChoiceEvent = Extract<SuspendEvent, { type: 'waitForChoice' }>;

/** A question with options; one's own words do as well. */
export function ChoiceForm({ event, isSending, onAnswer }: FormProps<ChoiceEvent>): ReactNode {
  const [picked, setPicked] = useState<readonly string[]>([]);
  const isMultiple = event.selectionMode === 'multiple';
  const options = [
    ...event.choices.map(({ id, content }) => ({ id, text: textOf(content) || id })),
    ...(event.noneOfTheAboveLabel === undefined ? [] : [{ id: '', text: event.noneOfTheAboveLabel }]),
  ];
  const choose = (id: string): void => {
    if (isSending) return;
    if (id === '') return onAnswer({ selected: [] });
    if (!isMultiple) return onAnswer({ selected: [id] });
    setPicked((before) => (before.includes(id) ? before.filter((other) => other !== id) : [...before, id]));
  };
  const keys = useCardKeys((key) => {
    const option = options[Number(key) - 1];
    if (option !== undefined) choose(option.id);
    return option !== undefined;
  });
  return (
    <fieldset className="choices" ref={keys} tabIndex={-1} data-answer-field aria-label="Options">
      <div className="choice-buttons" data-layout={event.layout ?? 'row'}>
        {options.map((option, index) => (
          <button
            key={option.id}
            type="button"
            className="button choice"
            disabled={isSending}
            aria-pressed={isMultiple ? picked.includes(option.id) : undefined}
            onClick={() => choose(option.id)}
          >
            {index < 9 && (
              <kbd aria-hidden="true" className="choice-key">
                {index + 1}
              </kbd>
            )}
            <bdi>{option.text}</bdi>
          </button>
        ))}
        {isMultiple && (
          <button
            type="button"
            className="button primary"
            disabled={isSending || picked.length === 0}
            onClick={() => onAnswer({ selected: [...picked] })}
          >
            {picked.length === 0 ? 'Choose any' : `Answer with ${picked.length}`}
          </button>
        )}
      </div>
      <TextAnswer
        label="Something else"
        requestId={event.requestId}
        isSending={isSending}
        onText={(text) => onAnswer(textAnswer(text))}
      />
    </fieldset>
  );
}
