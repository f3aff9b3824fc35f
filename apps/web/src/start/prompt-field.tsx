import { messageLengthMax } from '@concerto/protocol';
import { type KeyboardEvent, type ReactNode, type Ref, useId } from 'react';
import { AttachButton, AttachmentList, type useAttachments } from '../session/attachments.tsx';
import { FaultText } from './start-field.tsx';
import type { Fault } from './start-request.ts';

type Props = {
  readonly fieldRef: Ref<HTMLTextAreaElement>;
  readonly text: string;
  readonly placeholder: string;
  readonly files: ReturnType<typeof useAttachments>;
  readonly fault: Fault | undefined;
  readonly onWrite: (text: string) => void;
  readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
};

/** What to do, with what belongs to it: files are pasted, dropped or chosen. */
export function PromptField({ fieldRef, text, placeholder, files, fault, onWrite, onKeyDown }: Props): ReactNode {
  const id = useId();
  const isWrong = fault?.field === 'prompt';
  return (
    <div className="start-prompt">
      <label className="field">
        <span className="field-label">Prompt</span>
        <textarea
          ref={fieldRef}
          rows={4}
          value={text}
          maxLength={messageLengthMax}
          placeholder={placeholder}
          {...(isWrong ? { 'aria-invalid': true, 'aria-describedby': id } : {})}
          onChange={(event) => onWrite(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={(event) => files.add(event.clipboardData.files)}
          onDrop={(event) => {
            if (event.dataTransfer.files.length === 0) return;
            event.preventDefault();
            files.add(event.dataTransfer.files);
          }}
        />
      </label>
      <AttachButton onFiles={files.add} />
      {isWrong && <FaultText id={id} fault={fault} />}
      <AttachmentList attached={files.attached} onRemove={files.remove} />
    </div>
  );
}
