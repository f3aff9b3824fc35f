import { type ReactNode, useId } from 'react';

type Part = { readonly name: string; readonly values: readonly number[] };

type Props = {
  readonly title: string;
  readonly days: readonly string[];
  /** Stand on each other, the first below. */
  readonly parts: readonly Part[];
  readonly format: (value: number) => string;
  /** What to say when all is zero. */
  readonly empty: string;
  readonly note?: ReactNode;
};

const height = 100;
const gap = 0.2;

/** A bar a day. What it shows can be read as a table too. */
export function DayChart({ title, days, parts, format, empty, note }: Props): ReactNode {
  const id = useId();
  const sums = days.map((_day, at) => parts.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const max = Math.max(0, ...sums);
  const total = sums.reduce((sum, value) => sum + value, 0);
  return (
    <section className="chart" aria-labelledby={id}>
      <header className="chart-head">
        <h2 id={id}>{title}</h2>
        <strong>{max === 0 ? empty : format(total)}</strong>
        {note}
      </header>
      {max > 0 && (
        <>
          <p className="chart-scale" aria-hidden="true">
            {format(max)}
          </p>
          <svg
            className="chart-bars"
            viewBox={`0 0 ${days.length} ${height}`}
            preserveAspectRatio="none"
            // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- it is drawn here
            role="img"
            aria-label={`${title}, ${days.length} days, at most ${format(max)} a day`}
          >
            {days.map((day, at) => (
              <Bar key={day} at={at} max={max} parts={parts} title={`${day}: ${format(sums[at] ?? 0)}`} />
            ))}
          </svg>
          <p className="chart-days" aria-hidden="true">
            <span>{dayText(days[0])}</span>
            <span>{dayText(days.at(-1))}</span>
          </p>
          <Figures days={days} parts={parts} format={format} />
        </>
      )}
    </section>
  );
}

type BarProps = {
  readonly at: number;
  readonly max: number;
  readonly parts: readonly Part[];
  readonly title: string;
};

function Bar({ at, max, parts, title }: BarProps): ReactNode {
  const talls = parts.map(({ values }) => ((values[at] ?? 0) / max) * height);
  return (
    <g>
      <title>{title}</title>
      {/* So that the day can be pointed at above a low bar. */}
      <rect x={at} y={0} width={1} height={height} className="chart-day" />
      {parts.map(({ name }, index) => (
        <rect
          key={name}
          className={`chart-part-${index}`}
          x={at + gap / 2}
          y={height - talls.slice(0, index + 1).reduce((sum, tall) => sum + tall, 0)}
          width={1 - gap}
          height={talls[index]}
        />
      ))}
    </g>
  );
}

function Figures({ days, parts, format }: Pick<Props, 'days' | 'parts' | 'format'>): ReactNode {
  const all = days.map((day, at) => ({ day, at })).toReversed();
  const shown = all.filter(({ at }) => parts.some(({ values }) => (values[at] ?? 0) > 0));
  return (
    <details className="chart-figures">
      <summary>
        Figures
        {parts.length > 1 &&
          parts.map(({ name }, index) => (
            <span key={name} className="chart-key">
              <i className={`chart-part-${index}`} /> {name}
            </span>
          ))}
      </summary>
      <div className="table-frame">
        <table>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {parts.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ day, at }) => (
              <tr key={day}>
                <th scope="row">{day}</th>
                {parts.map(({ name, values }) => (
                  <td key={name}>{format(values[at] ?? 0)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function dayText(day = ''): string {
  return new Date(`${day}T12:00:00`).toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
}
