import { type ReactNode, useState } from 'react';
import { Icon } from '../shell/icon.tsx';
import { copyText } from './copy-text.ts';

const shownMs = 1500;

export function CopyButton({
  text,
  label = 'Copy',
}: {
  readonly text: () => string;
  readonly label?: string;
}): ReactNode {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    if (!(await copyText(text()))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), shownMs);
  };
  return (
    <button
      type="button"
      className="icon-button copy-button"
      aria-label={isCopied ? 'Copied' : label}
      title={label}
      onClick={() => void copy()}
    >
      <Icon name={isCopied ? 'check' : 'copy'} />
    </button>
  );
}
