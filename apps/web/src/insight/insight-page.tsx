import type { Insight } from '@concerto/protocol';
import type { ReactNode } from 'react';
import '../style/insight.css';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useFetched } from '../fetching/use-fetched.ts';
import { Link } from '../routing/link.tsx';
import { sessionPath } from '../routing/route.ts';
import { replaceAddress, useLocation } from '../routing/use-location.ts';
import { Loading } from '../shell/loading.tsx';
import { usePageTitle } from '../shell/use-page-title.ts';
import { Plain } from '../text/plain.tsx';
import { durationText } from '../time/duration.ts';
import { Age } from '../time/moment.tsx';
import { dollarsText } from '../usage/usage-text.ts';
import { DayChart } from './day-chart.tsx';
import { ShareTable } from './share-table.tsx';

const spans = [7, 30, 90] as const;

const whoWords = {
  person: 'People',
  rule: 'Rules',
  model: 'Models',
  program: 'Programs',
  timeout: 'Nobody in time',
  other: 'Others',
} as const;

/** What it all cost, took and came to, over some days. */
export function InsightPage(): ReactNode {
  const { query } = useLocation();
  const days = spans.find((span) => String(span) === query.get('days')) ?? 30;
  const { value, error, reload } = useFetched((signal) => client.insight({ days, offset: clockOffset() }, { signal }), {
    key: `insight ${days}`,
  });
  usePageTitle('Insight');
  return (
    <main className="plain-page insight" tabIndex={-1} aria-busy={value === undefined}>
      <header className="insight-head">
        <h1>Insight</h1>
        <fieldset className="filter" aria-label="How many days">
          {spans.map((span) => (
            <button
              key={span}
              type="button"
              className="filter-button"
              aria-pressed={span === days}
              onClick={() => replaceAddress(`/insight?days=${span}`)}
            >
              {span} days
            </button>
          ))}
        </fieldset>
        <button type="button" className="button small" onClick={reload}>
          Refresh
        </button>
      </header>
      {error !== undefined && <p className="inline-problem">{failureOf(error).text}</p>}
      {value === undefined && error === undefined && <Loading />}
      {value !== undefined && <Charts insight={value} />}
    </main>
  );
}

function Charts({ insight }: { readonly insight: Insight }): ReactNode {
  const { waits, read, isCut } = insight;
  const days = insight.days.map(({ day }) => day);
  const daily = (value: (day: Insight['days'][number]) => number): number[] => insight.days.map(value);
  return (
    <>
      <p className="muted">
        {read.toLocaleString()} sessions, with those that other sessions started.
        {isCut === true && ' There are more; only the newest are counted.'}
      </p>
      <div className="charts">
        <DayChart
          title="Cost"
          days={days}
          parts={[{ name: 'Cost', values: daily(({ usage }) => usage.costMicroUsd ?? 0) }]}
          format={dollarsText}
          empty="No agent told a cost"
        />
        <DayChart
          title="Tokens"
          days={days}
          parts={[
            { name: 'In', values: daily(({ usage }) => usage.inputTokens) },
            { name: 'Out', values: daily(({ usage }) => usage.outputTokens) },
          ]}
          format={countText}
          empty="None"
        />
        <DayChart
          title="Waiting for people"
          days={days}
          parts={[{ name: 'Waited', values: daily(({ waitedMs }) => waitedMs) }]}
          format={durationText}
          empty="No answers yet"
          note={
            waits.answers > 0 && (
              <span className="muted">
                {waits.answers === 1 ? '1 answer' : `${waits.answers} answers`} · half within{' '}
                {durationText(waits.medianMs)} · nine of ten within {durationText(waits.longMs)} · longest{' '}
                {durationText(waits.longestMs)}
              </span>
            )
          }
        />
        <DayChart
          title="Failures"
          days={days}
          parts={[{ name: 'Failures', values: daily(({ failures }) => failures) }]}
          format={countText}
          empty="None"
        />
        <DayChart
          title="Turns"
          days={days}
          parts={[{ name: 'Turns', values: daily(({ turns }) => turns) }]}
          format={countText}
          empty="None"
        />
      </div>
      <Shares insight={insight} />
    </>
  );
}

function Shares({ insight: { agents, models, answeredBy, failures } }: { readonly insight: Insight }): ReactNode {
  const hasCost = agents.some(({ usage }) => usage.costMicroUsd !== undefined);
  const lengthOf = ({ usage }: { readonly usage: Usage }): number =>
    hasCost ? (usage.costMicroUsd ?? 0) : tokensOf(usage);
  return (
    <div className="charts">
      <ShareTable
        title="Agents"
        names={agents.map(({ name, kind }) => (kind === 'agent' ? name : `${name} (${kind})`))}
        values={agents.map(lengthOf)}
        columns={[
          { name: 'Cost', text: (at) => costText(agents[at]?.usage) },
          { name: 'Tokens', text: (at) => countText(tokensOf(agents[at]?.usage)) },
          { name: 'Turns', text: (at) => countText(agents[at]?.turns ?? 0) },
          { name: 'Failures', text: (at) => countText(agents[at]?.failures ?? 0) },
          { name: 'Waited', text: (at) => durationText(agents[at]?.waitedMs ?? 0) },
        ]}
        empty="None has run."
      />
      <ShareTable
        title="Models"
        names={models.map(({ name }) => name)}
        values={models.map(lengthOf)}
        columns={[
          { name: 'Cost', text: (at) => costText(models[at]?.usage) },
          { name: 'In', text: (at) => countText(models[at]?.usage.inputTokens ?? 0) },
          { name: 'Out', text: (at) => countText(models[at]?.usage.outputTokens ?? 0) },
        ]}
        empty="No agent told what it used."
      />
      <ShareTable
        title="Who answered"
        names={answeredBy.map(({ who }) => whoWords[who])}
        values={answeredBy.map(({ answers }) => answers)}
        columns={[{ name: 'Requests', text: (at) => countText(answeredBy[at]?.answers ?? 0) }]}
        empty="Nothing was answered yet."
      />
      <ShareTable
        title="What failed"
        names={failures.map(({ code, last }) => (
          <>
            {code}{' '}
            <span className="muted">
              <Link href={sessionPath(last.session)}>last</Link> <Age at={last.at} />: <Plain text={last.message} />
            </span>
          </>
        ))}
        values={failures.map(({ times }) => times)}
        columns={[{ name: 'Times', text: (at) => countText(failures[at]?.times ?? 0) }]}
        empty="Nothing."
      />
    </div>
  );
}

type Usage = Insight['models'][number]['usage'];

/** How far this clock is before UTC, in minutes. */
function clockOffset(): number {
  return -new Date().getTimezoneOffset();
}

function tokensOf(usage: Usage | undefined): number {
  return (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
}

function costText(usage: Usage | undefined): string {
  return usage?.costMicroUsd === undefined ? '' : dollarsText(usage.costMicroUsd);
}

function countText(value: number): string {
  return value.toLocaleString();
}
