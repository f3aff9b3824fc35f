import type { BlobRef, Part } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { Icon } from '../shell/icon.tsx';
import { bytesText } from './bytes-text.ts';

/** A file that goes with what is being written: on its way to the server, there, or refused. */
type Attachment = {
  readonly key: number;
  readonly name: string;
  readonly bytes: number;
  readonly state:
    | { readonly kind: 'sending' }
    | { readonly kind: 'kept'; readonly blob: BlobRef }
    | { readonly kind: 'failed'; readonly why: string };
};

let lastKey = 0;

/** Files are kept by the server as soon as they are chosen: sending the message then takes no time. */
export function useAttachments() {
  const [attached, setAttached] = useState<readonly Attachment[]>([]);
  const settle = (key: number, state: Attachment['state']): void =>
    setAttached((now) => now.map((one) => (one.key === key ? { ...one, state } : one)));
  const add = (files: Iterable<File>): void => {
    for (const file of files) {
      lastKey += 1;
      const key = lastKey;
      setAttached((now) => [...now, { key, name: file.name, bytes: file.size, state: { kind: 'sending' } }]);
      client.upload(file, file.type === '' ? 'application/octet-stream' : file.type).then(
        (blob) => settle(key, { kind: 'kept', blob }),
        (cause: unknown) => settle(key, { kind: 'failed', why: failureOf(cause).text }),
      );
    }
  };
  return {
    attached,
    add,
    remove: (key: number): void => setAttached((now) => now.filter((one) => one.key !== key)),
    /** They go with what is sent; the returned function brings them back. */
    take: (): (() => void) => {
      setAttached([]);
      return () => setAttached((now) => [...attached, ...now]);
    },
    /** As parts of a message. */
    parts: attached.flatMap(({ name, state }): Part[] =>
      state.kind === 'kept' ? [{ storedData: { ...state.blob, title: name } }] : [],
    ),
    isReady: attached.every(({ state }) => state.kind === 'kept'),
  };
}

type ListProps = { readonly attached: readonly Attachment[]; readonly onRemove: (key: number) => void };

export function AttachmentList({ attached, onRemove }: ListProps): ReactNode {
  if (attached.length === 0) return null;
  return (
    <ul className="attachments" aria-label="Attached files">
      {attached.map(({ key, name, bytes, state }) => (
        <li key={key} className="attachment" data-state={state.kind} title={state.kind === 'failed' ? state.why : name}>
          <Preview state={state} />
          <span className="attachment-name">{name}</span>
          <span className="muted">{noteOf(state, bytes)}</span>
          <button type="button" className="icon-button" aria-label={`Remove ${name}`} onClick={() => onRemove(key)}>
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

function Preview({ state }: Pick<Attachment, 'state'>): ReactNode {
  if (state.kind !== 'kept' || !state.blob.mimeType.startsWith('image/')) return <Icon name="file" />;
  return <img className="attachment-image" src={client.fileUrl(state.blob.handle)} alt="" />;
}

function noteOf(state: Attachment['state'], bytes: number): string {
  if (state.kind === 'failed') return state.why;
  return state.kind === 'sending' ? 'uploading …' : bytesText(bytes);
}

export function AttachButton({ onFiles }: { readonly onFiles: (files: Iterable<File>) => void }): ReactNode {
  return (
    <label className="icon-button attach" title="Attach files">
      <Icon name="attach" />
      <input
        type="file"
        multiple
        className="visually-hidden"
        aria-label="Attach files"
        onChange={(event) => {
          onFiles(event.target.files ?? []);
          event.target.value = '';
        }}
      />
    </label>
  );
}
