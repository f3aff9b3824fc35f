import type { Session } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { useMay } from '../people/may.ts';
import { useChange } from '../settings/use-change.ts';
import { Fact } from './fact.tsx';
import { isOver } from './lifecycle-table.ts';

/** Who answers before a person does; another one is chosen while the session runs. */
export function SupervisorFact({ session }: { readonly session: Session }): ReactNode {
  const { supervisor, status, kind } = session;
  const [isChoosing, setChoosing] = useState(false);
  const maySupervise = useMay('member');
  const mayChange = maySupervise && !isOver(status) && kind !== 'program';
  if (!mayChange && supervisor === undefined) return null;
  return (
    <Fact name="answers">
      {isChoosing ? (
        <SupervisorChoice session={session} onDone={() => setChoosing(false)} />
      ) : (
        <>
          {supervisor === undefined ? 'a person' : `${supervisor}, then a person`}{' '}
          {mayChange && (
            <button
              type="button"
              className="link-button"
              aria-label="Change who answers"
              onClick={() => setChoosing(true)}
            >
              change
            </button>
          )}
        </>
      )}
    </Fact>
  );
}

type ChoiceProps = { readonly session: Session; readonly onDone: () => void };

/** Whoever asked for it by keyboard goes on there. */
const focus = (field: HTMLSelectElement | null): void => field?.focus();

function SupervisorChoice({ session: { id, supervisor = '' }, onDone }: ChoiceProps): ReactNode {
  const { value } = useFetched((signal) => client.programs({ signal }), { key: 'programs' });
  const { isBusy, change } = useChange(onDone);
  return (
    <select
      className="setting-select"
      aria-label="Who answers before a person"
      ref={focus}
      value={supervisor}
      disabled={isBusy || value === undefined}
      onBlur={onDone}
      onChange={({ target }) => void change(() => client.supervise(id, target.value === '' ? null : target.value))}
    >
      <option value="">nobody</option>
      {(value?.programs ?? []).map(({ name }) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}
