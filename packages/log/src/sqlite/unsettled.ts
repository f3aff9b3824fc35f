/** How much something is. */
export type Amount = {
  readonly rows: number;
  /** Of their texts, in UTF-16 units. */
  readonly length: number;
  /** Ends of streams and single documents: each is on another page of the database. */
  readonly places: number;
};

export function sum(a: Amount, b: Amount): Amount {
  return { rows: a.rows + b.rows, length: a.length + b.length, places: a.places + b.places };
}

export function withPlaces({ rows, length }: Pick<Amount, 'rows' | 'length'>, places: number): Amount {
  return { rows, length, places };
}

/** Something of which the last part is in memory and in `recent`, until it is put in its place. */
export type Unsettled<T> = {
  /** What the group that is being made has added so far. */
  added(): Amount;
  /** All that is not in its place, with what the group has added. */
  waiting(): Amount;
  /** What the group has added, as `recent` holds it. */
  recent(): T[];
  /** The group is in `recent`. */
  keep(): void;
  /** The group could not be stored: everything is as it was before it. */
  undo(): void;
  /** Within a transaction: writes everything that is not in its place. What it returns is called once that is stored. */
  place(): () => void;
};

export type Tally = {
  count(rows: number, length: number): void;
  added(): Pick<Amount, 'rows' | 'length'>;
  waiting(): Pick<Amount, 'rows' | 'length'>;
  keep(): void;
  undo(): void;
  settled(): void;
};

/** Counts rows and their texts, of the group and of all that waits. */
export function tally(): Tally {
  let added = { rows: 0, length: 0 };
  let kept = { rows: 0, length: 0 };
  const waiting = (): { rows: number; length: number } => ({
    rows: kept.rows + added.rows,
    length: kept.length + added.length,
  });
  const undo = (): void => {
    added = { rows: 0, length: 0 };
  };
  return {
    count(rows, length) {
      added.rows += rows;
      added.length += length;
    },
    added: () => added,
    waiting,
    keep() {
      kept = waiting();
      undo();
    },
    undo,
    settled() {
      kept = { rows: 0, length: 0 };
      undo();
    },
  };
}
