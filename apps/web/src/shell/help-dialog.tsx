import { Fragment, type ReactNode, useEffect, useRef } from 'react';
import { Icon } from './icon.tsx';

const groups: readonly { readonly title: string; readonly keys: readonly (readonly [string, string])[] }[] = [
  {
    title: 'Everywhere',
    keys: [
      ['?', 'This help'],
      ['g', 'All sessions'],
      ['p', 'Programs'],
      ['u', 'Insight: cost, tokens, waiting'],
      ['s', 'Settings'],
      ['n', 'New session'],
      ['w', 'The next session that waits for you'],
      ['t', 'Theme: system, light, dark'],
    ],
  },
  {
    title: 'List of sessions',
    keys: [
      ['j / k', 'Next or previous session'],
      ['Enter', 'Open it'],
      ['x', 'Select it, to do something to several at once'],
      ['/', 'Search'],
    ],
  },
  {
    title: 'Session',
    keys: [
      ['a', 'Go to what waits for your answer; again: to the next'],
      ['1 … 9', 'Choose an option of the focused question'],
      ['y / n / r', 'Approve, deny, or deny with a reason, on the card that has the focus; else go to it'],
      ['s / l', 'Approve exactly this for the whole session, or see the rule that always does'],
      ['v', 'Changes unified or side by side'],
      ['c', 'Write a message'],
      ['Enter', 'Send, or answer what is asked; Shift+Enter for a new line'],
      ['Alt+Enter', 'Queue, also while a question is open'],
      ['Ctrl+Enter', 'Steer: say it in the running turn (⌘ on a Mac)'],
      ['i', 'Inspect: audit and events'],
      ['e', 'Rename it'],
      ['Escape', 'Leave a field, or close what is open'],
      ['b', 'Jump to the end and follow what comes'],
    ],
  },
  {
    title: 'Graph',
    keys: [['z / y', 'Undo, redo']],
  },
];

type Props = { readonly onClose: () => void };

export function HelpDialog({ onClose }: Props): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="dialog help" aria-labelledby="help-title" onClose={onClose}>
      <header className="dialog-head">
        <h2 id="help-title">Keyboard</h2>
        <button type="button" className="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
          <Icon name="close" />
        </button>
      </header>
      <div className="help-groups">
        {groups.map((group) => (
          <section key={group.title}>
            <h3>{group.title}</h3>
            <dl className="keys">
              {group.keys.map(([key, meaning]) => (
                <Fragment key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{meaning}</dd>
                </Fragment>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </dialog>
  );
}
