import type { Json } from '@concerto/base';
import { activeAtOf, type Session } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useOverview } from '../live/use-overview.ts';
import { useMay } from '../people/may.ts';
import { Link } from '../routing/link.tsx';
import { programPath, sessionPath } from '../routing/route.ts';
import { replaceAddress } from '../routing/use-location.ts';
import { SessionTimeline } from '../session/session-timeline.tsx';
import { Icon } from '../shell/icon.tsx';
import { StatusBadge } from '../status/status-badge.tsx';
import { asksYou } from '../status/status-words.ts';
import { Plain } from '../text/plain.tsx';

const runsShown = 12;

type Props = {
  readonly name: string;
  /** The run that is followed in the source. */
  readonly watched: string | undefined;
  readonly isChanged: boolean;
  /** What else is done with the program, below the form that starts it. */
  readonly children: ReactNode;
};

/** Starts the program, and shows what its runs do. */
export function ProgramRuns({ name, watched, isChanged, children }: Props): ReactNode {
  const { rows } = useOverview();
  const mayRun = useMay('agent');
  const runs = [...(rows?.values() ?? [])]
    .filter(({ kind, agent, parent }) => kind === 'program' && agent === name && parent === undefined)
    .toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  return (
    <aside className="program-side" aria-label="Runs">
      {mayRun && <RunForm name={name} isChanged={isChanged} />}
      {children}
      {watched !== undefined && <SessionTimeline key={watched} id={watched} />}
      <h2>Runs</h2>
      {runs.length === 0 && <p className="muted">None yet.</p>}
      <ul className="plain-list">
        {runs.slice(0, runsShown).map((run) => (
          <RunLine key={run.id} name={name} run={run} isWatched={run.id === watched} />
        ))}
      </ul>
    </aside>
  );
}

function RunLine({
  name,
  run,
  isWatched,
}: {
  readonly name: string;
  readonly run: Session;
  readonly isWatched: boolean;
}) {
  const { id, title, status, error } = run;
  return (
    <li aria-current={isWatched}>
      <Link href={`${programPath(name)}?run=${encodeURIComponent(id)}`}>
        <Plain text={title} />
      </Link>{' '}
      <StatusBadge status={status} since={activeAtOf(run)} hasFailed={error !== undefined} isAsking={asksYou(run)} />{' '}
      <Link href={sessionPath(id)} className="muted">
        session
      </Link>
    </li>
  );
}

function RunForm({ name, isChanged }: { readonly name: string; readonly isChanged: boolean }): ReactNode {
  const [prompt, setPrompt] = useState('');
  const [input, setInput] = useState('');
  const [problem, setProblem] = useState<string>();
  const [isStarting, setStarting] = useState(false);
  const start = async (): Promise<void> => {
    const parsed = readInput(input);
    if (!parsed.ok) return setProblem(parsed.problem);
    setStarting(true);
    setProblem(undefined);
    try {
      const { id } = await client.start({
        program: name,
        ...(prompt.trim() === '' ? {} : { prompt: prompt.trim() }),
        ...(parsed.value === undefined ? {} : { input: parsed.value }),
      });
      replaceAddress(`${programPath(name)}?run=${encodeURIComponent(id)}`);
    } catch (cause) {
      setProblem(failureOf(cause).text);
    }
    setStarting(false);
  };
  return (
    <form
      className="run-form"
      aria-label="Run"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <label className="field">
        <span className="field-label">Prompt, as the program reads it</span>
        <input value={prompt} onChange={(event) => setPrompt(event.target.value)} />
      </label>
      <label className="field">
        <span className="field-label">Input, as JSON</span>
        <textarea rows={2} value={input} placeholder="none" onChange={(event) => setInput(event.target.value)} />
      </label>
      {isChanged && <p className="muted">What is not saved is not run.</p>}
      {problem !== undefined && (
        <p className="inline-problem" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" className="button primary wide" disabled={isStarting}>
        <Icon name="play" />
        {isStarting ? 'Starting …' : 'Run'}
      </button>
    </form>
  );
}

type Read = { readonly ok: true; readonly value: Json | undefined } | { readonly ok: false; readonly problem: string };

function readInput(text: string): Read {
  if (text.trim() === '') return { ok: true, value: undefined };
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (cause) {
    return { ok: false, problem: `The input is no JSON: ${cause instanceof Error ? cause.message : String(cause)}` };
  }
}
