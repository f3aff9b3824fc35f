import type { AgentInfo, SessionView } from '@concerto/protocol';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { Link } from '../routing/link.tsx';
import { graphPath, sessionPath } from '../routing/route.ts';
import { replaceAddress } from '../routing/use-location.ts';
import { TimelineOf } from '../session/session-timeline.tsx';

type Props = {
  readonly session: string | undefined;
  readonly view: SessionView;
  /** Who can be talked to. */
  readonly workers: readonly AgentInfo[];
};

/** The graph is changed by talking: what is asked of it, it answers by itself. */
export function TalkPanel({ session, view, workers }: Props): ReactNode {
  const [picked, setPicked] = useState<string>();
  const panel = useRef<HTMLElement>(null);
  const { position } = view;
  // The last that was said is what one looks for.
  useEffect(() => {
    if (position > 0) panel.current?.querySelector('.run-timeline')?.scrollTo({ top: Number.MAX_SAFE_INTEGER });
  }, [position]);
  const first = workers.find(({ kind }) => kind === 'assistant') ?? workers[0];
  const worker = workers.find((one) => keyOf(one) === picked) ?? first;
  const say = async (content: string): Promise<void> => {
    if (session !== undefined) await client.send(session, { content });
    else if (worker !== undefined) {
      const { id } = await client.start({ [worker.kind]: worker.name, prompt: content });
      replaceAddress(graphPath(id));
    }
  };
  return (
    <section ref={panel} className="graph-fields" aria-label="Talk">
      {session === undefined && (
        <label className="field">
          <span className="field-label">To whom</span>
          <select value={worker === undefined ? '' : keyOf(worker)} onChange={(event) => setPicked(event.target.value)}>
            {workers.map((one) => (
              <option key={keyOf(one)} value={keyOf(one)}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
      )}
      {session !== undefined && (
        <>
          <p className="muted">
            <Link href={sessionPath(session)}>The whole session</Link> ·{' '}
            <Link href="/graph">talk to somebody else</Link>
          </p>
          <TimelineOf id={session} view={view} />
        </>
      )}
      <SayForm canSay={(session ?? worker) !== undefined} onSay={say} />
    </section>
  );
}

type SayProps = { readonly canSay: boolean; readonly onSay: (text: string) => Promise<void> };

/** What could not be said comes back into the field. */
function SayForm({ canSay, onSay }: SayProps): ReactNode {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string>();
  const say = async (): Promise<void> => {
    const content = text.trim();
    if (content === '' || !canSay) return;
    setProblem(undefined);
    setText('');
    try {
      await onSay(content);
    } catch (cause) {
      setProblem(failureOf(cause).text);
      setText(content);
    }
  };
  return (
    <form
      className="graph-talk"
      aria-label="Say something about the graph"
      onSubmit={(event) => {
        event.preventDefault();
        void say();
      }}
    >
      <textarea
        rows={3}
        aria-label="Message"
        value={text}
        placeholder="Add a step that reviews the draft …"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          void say();
        }}
      />
      <button type="submit" className="button primary" disabled={text.trim() === '' || !canSay}>
        Say it
      </button>
      {problem !== undefined && (
        <p className="inline-problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

function keyOf({ kind, name }: AgentInfo): string {
  return `${kind} ${name}`;
}
