import type { ReactNode } from 'react';
import { tokensText } from './usage-text.ts';

type Props = { readonly context: { readonly used: number; readonly size: number } };

/** From here on the model is about to forget. */
const tightPercent = 80;

/** How full the model's window is. */
export function ContextMeter({ context: { used, size } }: Props): ReactNode {
  const percent = size === 0 ? 0 : Math.min(100, Math.round((used / size) * 100));
  return (
    <span
      className="context"
      data-tight={percent >= tightPercent}
      title={`${used.toLocaleString()} of ${size.toLocaleString()} tokens`}
    >
      <meter min={0} max={100} value={percent} aria-label="Context in use" aria-valuetext={`${percent} percent`} />
      {percent} % of {tokensText(size)}
    </span>
  );
}
