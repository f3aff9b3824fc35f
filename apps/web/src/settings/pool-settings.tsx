import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { useOverview } from '../live/use-overview.ts';
import { PoolMeter } from '../sessions/pool-meter.tsx';
import { useChange } from './use-change.ts';

/** How many sessions may run at a time. */
export function PoolSettings({ mayChange }: { readonly mayChange: boolean }): ReactNode {
  const { statuses } = useOverview();
  const { value: pool, reload } = useFetched((signal) => client.pool({ signal }), { key: 'pool', revision: statuses });
  const [wanted, setWanted] = useState<string>();
  const { isBusy, change } = useChange(reload);
  if (pool === undefined) return null;
  const max = Number(wanted ?? pool.max);
  const isGood = Number.isInteger(max) && max >= 1 && max !== pool.max;
  return (
    <section aria-labelledby="pool-title">
      <h2 id="pool-title">Pool</h2>
      <p className="muted">How many sessions may run at once.</p>
      <PoolMeter pool={pool} />
      {mayChange && (
        <form
          className="inline-form"
          onSubmit={(event) => {
            event.preventDefault();
            void change(() => client.configurePool(max), `${max} sessions may run at a time.`);
          }}
        >
          <label className="field">
            <span className="field-label">Slots</span>
            <input
              type="number"
              min={1}
              max={10_000}
              value={wanted ?? pool.max}
              onChange={(event) => setWanted(event.target.value)}
            />
          </label>
          <button type="submit" className="button" disabled={!isGood || isBusy}>
            Change
          </button>
        </form>
      )}
    </section>
  );
}
