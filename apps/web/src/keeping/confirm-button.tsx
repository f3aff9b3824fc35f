import type { ReactNode } from 'react';
import { useConfirm } from '../shell/use-confirm.ts';

type Props = {
  readonly label: string;
  /** What it says before the press that counts. */
  readonly question: string;
  readonly title: string;
  /** Which of several alike it is for, said to whoever does not see where it stands. */
  readonly about?: string;
  readonly disabled?: boolean;
  readonly onMeant: () => void;
};

export function ConfirmButton({ label, question, title, about, disabled = false, onMeant }: Props): ReactNode {
  const { isConfirming, isMeant } = useConfirm();
  const text = isConfirming ? question : label;
  return (
    <button
      type="button"
      className="button small danger-quiet"
      data-confirming={isConfirming}
      disabled={disabled}
      title={title}
      aria-label={about === undefined ? undefined : `${text} ${about}`}
      onClick={() => isMeant() && onMeant()}
    >
      {text}
    </button>
  );
}
