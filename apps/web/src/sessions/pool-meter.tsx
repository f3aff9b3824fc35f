import type { PoolState } from '@concerto/protocol';
import type { ReactNode } from 'react';

/** How many sessions may run, and how many do. */
export function PoolMeter({ pool }: { readonly pool: PoolState }): ReactNode {
  const { active, max, waiting } = pool;
  return (
    <p className="pool" data-full={active >= max}>
      <meter
        min={0}
        max={max}
        value={Math.min(active, max)}
        aria-label="Slots in use"
        aria-valuetext={`${active} of ${max}`}
      />
      <span>
        {active} of {max} slots
        {waiting > 0 && <strong> · {waiting} waiting</strong>}
      </span>
    </p>
  );
}
