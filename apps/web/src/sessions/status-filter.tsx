import type { ReactNode } from 'react';
import { type FilterName, filterNames, filters } from './list-sessions.ts';

type Props = { readonly value: FilterName; readonly onChange: (filter: FilterName) => void };

export function StatusFilter({ value, onChange }: Props): ReactNode {
  return (
    <fieldset className="filter" aria-label="Filter by status">
      {filterNames.map((name) => (
        <button
          key={name}
          type="button"
          className="filter-button"
          aria-pressed={name === value}
          onClick={() => onChange(name)}
        >
          {filters[name].label}
        </button>
      ))}
    </fieldset>
  );
}
