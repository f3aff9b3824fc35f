import type { PoolState } from '@concerto/protocol';
import type { ReactNode } from 'react';

/** How many sessions may run, and how many do. */
export function PoolMeter({ pool }: { readonly pool: PoolState }): ReactNode {
  const { active, max, waiting } = pool;
  // A pool that was made smaller ends nobody.
  const taken = active > max ? `${active} still run, ${max} slots` : `${active} of ${max} slots`;
  return (
    <p className="pool" data-full={active >= max}>
      <meter min={0} max={max} value={Math.min(active, max)} aria-label="Slots in use" aria-valuetext={taken} />
      <span>
        {taken}
        {waiting > 0 && <strong> · {waiting} waiting</strong>}
      </span>
    </p>
  );
}
