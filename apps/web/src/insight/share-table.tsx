import { type ReactNode, useId } from 'react';

type Column = { readonly name: string; readonly text: (at: number) => string };

type Props = {
  readonly title: string;
  readonly names: readonly ReactNode[];
  /** How long the bar of each is. */
  readonly values: readonly number[];
  readonly columns: readonly Column[];
  readonly empty: string;
};

/** Who has how much of something, each with a bar. */
export function ShareTable({ title, names, values, columns, empty }: Props): ReactNode {
  const id = useId();
  const max = Math.max(0, ...values);
  return (
    <section className="chart" aria-labelledby={id}>
      <header className="chart-head">
        <h2 id={id}>{title}</h2>
      </header>
      {names.length === 0 && <p className="muted">{empty}</p>}
      {names.length > 0 && (
        <div className="table-frame">
          <table className="shares">
            <thead>
              <tr>
                <th scope="col">Name</th>
                {columns.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {names.map((name, at) => (
                // oxlint-disable-next-line react/no-array-index-key -- the rows are made anew with every answer
                <tr key={at}>
                  <th scope="row">
                    {name}
                    <svg className="share-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                      <rect
                        className="chart-part-0"
                        width={max === 0 ? 0 : ((values[at] ?? 0) / max) * 100}
                        height={1}
                      />
                    </svg>
                  </th>
                  {columns.map(({ name: column, text }) => (
                    <td key={column}>{text(at)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
