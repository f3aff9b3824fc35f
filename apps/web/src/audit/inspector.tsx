import { type ReactNode, useEffect, useRef } from 'react';
import { Icon } from '../shell/icon.tsx';
import { AuditTable } from './audit-table.tsx';
import { EventTable } from './event-table.tsx';

export type InspectorTab = 'audit' | 'events';

type Props = {
  readonly sessionId: string;
  readonly tab: InspectorTab;
  /** The event that a link leads to. */
  readonly event: number | undefined;
  readonly position: number;
  readonly onTab: (tab: InspectorTab) => void;
  readonly onClose: () => void;
};

const tabs: readonly { readonly name: InspectorTab; readonly label: string }[] = [
  { name: 'audit', label: 'Audit' },
  { name: 'events', label: 'Events' },
];

/** What was asked and confirmed, by whom and how long it took; and every event as it is stored. */
export function Inspector({ sessionId, tab, event, position, onTab, onClose }: Props): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="dialog drawer" aria-labelledby="inspector-title" onClose={onClose}>
      <header className="dialog-head">
        <h2 id="inspector-title">Inspect</h2>
        <fieldset className="filter" aria-label="What to look at">
          {tabs.map(({ name, label }) => (
            <button
              key={name}
              type="button"
              className="filter-button"
              aria-pressed={name === tab}
              onClick={() => onTab(name)}
            >
              {label}
            </button>
          ))}
        </fieldset>
        <button type="button" className="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
          <Icon name="close" />
        </button>
      </header>
      {tab === 'audit' ? (
        <AuditTable sessionId={sessionId} revision={position} />
      ) : (
        <EventTable key={event ?? 0} sessionId={sessionId} position={position} sought={event} />
      )}
    </dialog>
  );
}
