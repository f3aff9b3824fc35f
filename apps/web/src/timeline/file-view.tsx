import { type FilePart, fileWords } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { Icon } from '../shell/icon.tsx';
import { safeLink } from '../text/safe-link.ts';

const imageTypes = /^image\/(png|jpeg|gif|webp|avif|bmp)$/;

/** A picture is shown; any other file, and a picture that is none or is gone, is a link that says what it is. */
export function FileView({ file }: { readonly file: FilePart }): ReactNode {
  const [isBroken, setBroken] = useState(false);
  const address = addressOf(file);
  const words = fileWords(file);
  if (imageTypes.test(file.mimeType) && address !== undefined && file.at.kind !== 'link' && !isBroken) {
    return <img className="inline-image" src={address} alt={words} title={words} onError={() => setBroken(true)} />;
  }
  return (
    <p className="file-link">
      <Icon name="file" />
      {address === undefined ? (
        <span>{words}</span>
      ) : (
        <a href={address} download={file.at.kind === 'link' ? undefined : (file.title ?? true)} rel="noreferrer">
          {words}
        </a>
      )}
      {isBroken && <span className="muted">cannot be shown</span>}
    </p>
  );
}

function addressOf({ at, mimeType, title }: FilePart): string | undefined {
  switch (at.kind) {
    case 'stored':
      return client.fileUrl(at.handle, title);
    case 'link':
      return safeLink(at.uri, title ?? at.uri)?.href;
    case 'inline': {
      // A type that a browser would run is only ever saved.
      const type = imageTypes.test(mimeType) ? mimeType : 'application/octet-stream';
      return `data:${type};base64,${at.data}`;
    }
  }
}
