import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';

type Props = {
  readonly text: string;
  /** The message is not in the queue any more: nothing can be saved, and what was written is not lost. */
  readonly isLate: boolean;
  readonly onWrite: (text: string) => void;
  readonly onSave: (text: string) => void;
  readonly onCancel: () => void;
};

export function EditForm({ text, isLate, onWrite, onSave, onCancel }: Props): ReactNode {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const { current } = field;
    current?.focus();
    current?.setSelectionRange(current.value.length, current.value.length);
  }, []);
  const canSave = !isLate && text.trim() !== '';
  const save = (): void => {
    if (canSave) onSave(text.trim());
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') onCancel();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    save();
  };
  return (
    <div className="queue-edit">
      <textarea
        ref={field}
        aria-label="Edit message"
        rows={Math.min(8, text.split('\n').length + 1)}
        value={text}
        onChange={(event) => onWrite(event.target.value)}
        onKeyDown={press}
      />
      <div className="queue-actions">
        <button type="button" className="button small primary" disabled={!canSave} onClick={save}>
          Save
        </button>
        <button type="button" className="button small" onClick={onCancel}>
          {isLate ? 'Discard' : 'Keep as it was'}
        </button>
      </div>
    </div>
  );
}
