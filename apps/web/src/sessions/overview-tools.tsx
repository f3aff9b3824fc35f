import type { ReactNode, Ref } from 'react';
import { type FilterName, filterNames, labelOf, type SortName, sorts, type Wish } from './overview.ts';

type Props = {
  readonly wish: Wish;
  /** Undefined until they are known. */
  readonly counts: Readonly<Record<FilterName, number>> | undefined;
  /** There are older ones that are not counted. */
  readonly hasMore: boolean;
  readonly mayMoreWait: boolean;
  readonly searchRef: Ref<HTMLInputElement>;
  readonly onWish: (wish: Wish) => void;
  readonly onSelect: () => void;
};

const sortNames: readonly SortName[] = ['activity', 'created'];

/** Which sessions are shown, and in which order. */
export function OverviewTools({ wish, counts, hasMore, mayMoreWait, searchRef, onWish, onSelect }: Props): ReactNode {
  return (
    <div className="overview-tools">
      <fieldset className="filter" aria-label="Filter by status">
        {filterNames.map((name) => (
          <button
            key={name}
            type="button"
            className="filter-button"
            aria-pressed={name === wish.filter}
            onClick={() => onWish({ ...wish, filter: name })}
          >
            {labelOf(name)}{' '}
            {counts !== undefined && (
              <span className="filter-count" data-alert={name === 'you' && counts.you > 0}>
                {counts[name]}
                {(name === 'you' ? mayMoreWait : hasMore) && '+'}
              </span>
            )}
          </button>
        ))}
        <button
          type="button"
          className="filter-button"
          aria-pressed={wish.isArchive}
          onClick={() => onWish({ ...wish, isArchive: !wish.isArchive })}
        >
          Archive
        </button>
      </fieldset>
      <input
        ref={searchRef}
        type="search"
        className="search-field"
        aria-label="Search sessions"
        placeholder="Search titles and what was said …  /"
        value={wish.sought}
        onChange={(event) => onWish({ ...wish, sought: event.target.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          onWish({ ...wish, sought: '' });
          event.currentTarget.blur();
        }}
      />
      <select
        className="sort"
        aria-label="Sort by"
        value={wish.sort}
        onChange={(event) =>
          onWish({ ...wish, sort: sortNames.find((name) => name === event.target.value) ?? 'activity' })
        }
      >
        {sortNames.map((name) => (
          <option key={name} value={name}>
            {sorts[name]}
          </option>
        ))}
      </select>
      <button
        type="button"
        className="button"
        title="Do something to several (x selects the focused one)"
        onClick={onSelect}
      >
        Select
      </button>
    </div>
  );
}
