import type { ReactNode } from 'react';
import { useConfirm } from '../shell/use-confirm.ts';

type Props = {
  readonly label: string;
  /** What it says before the press that counts. */
  readonly question: string;
  readonly title: string;
  readonly disabled?: boolean;
  readonly onMeant: () => void;
};

export function ConfirmButton({ label, question, title, disabled = false, onMeant }: Props): ReactNode {
  const { isConfirming, isMeant } = useConfirm();
  return (
    <button
      type="button"
      className="button small danger-quiet"
      data-confirming={isConfirming}
      disabled={disabled}
      title={title}
      onClick={() => isMeant() && onMeant()}
    >
      {isConfirming ? question : label}
    </button>
  );
}
