import type { ReactNode } from 'react';
import { ageText, clockText, dayClockText, durationText, momentText } from './duration.ts';
import { useNow, useToday } from './use-now.ts';

type Props = { readonly at: string };

/** When something happened, by the clock. */
export function ClockTime({ at }: Props): ReactNode {
  return (
    <time className="time" dateTime={at} title={momentText(at)}>
      {clockText(at)}
    </time>
  );
}

/** When something happened; what was another day says which. */
export function DayTime({ at }: Props): ReactNode {
  return (
    <time className="time" dateTime={at} title={momentText(at)}>
      {dayClockText(at, useToday())}
    </time>
  );
}

/** How long ago, kept up to date. */
export function Age({ at }: Props): ReactNode {
  return (
    <time className="time" dateTime={at} title={momentText(at)}>
      {ageText(at, useNow())}
    </time>
  );
}

/** How long something has lasted, kept up to date. */
export function Lasting({ since }: { readonly since: string }): ReactNode {
  return (
    <time className="time" dateTime={since} title={`since ${momentText(since)}`}>
      {durationText(useNow() - Date.parse(since))}
    </time>
  );
}

/** How long there is left, kept up to date. */
export function Remaining({ until }: { readonly until: string }): ReactNode {
  return (
    <time className="time" dateTime={until} title={`until ${momentText(until)}`}>
      {durationText(Date.parse(until) - useNow())}
    </time>
  );
}
