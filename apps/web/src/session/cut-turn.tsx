import { type Session, type SessionView, textOf } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useMay } from '../people/may.ts';
import { Icon } from '../shell/icon.tsx';
import { post } from '../shell/notice-board.ts';
import { Plain } from '../text/plain.tsx';

type Props = { readonly session: Session | undefined; readonly view: SessionView };

/** The agent was lost in the middle of a turn: what went with it, and the ways on. */
export function CutTurn({ session, view }: Props): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const maySend = useMay('agent');
  const turn = view.turns.at(-1);
  if (session?.status !== 'interrupted' || turn?.state !== 'lost') return null;
  const prompt = turn.objective === undefined ? '' : textOf(turn.objective).trim();
  const ask = async (call: () => Promise<unknown>): Promise<void> => {
    setAsking(true);
    try {
      await call();
    } catch (cause) {
      post('bad', failureOf(cause).text);
    } finally {
      setAsking(false);
    }
  };
  return (
    <section className="waiting-line" aria-label="The turn was cut">
      <Icon name="warning" />
      <span>
        <Plain text={`${lostIn(session.reason)}. Go on continues the conversation where the agent can load it.`} />
      </span>
      {maySend && prompt !== '' && (
        <button
          type="button"
          className="button small"
          disabled={isAsking}
          title="Say the message of this turn once more"
          onClick={() => void ask(() => client.send(session.id, { content: prompt, priority: 'immediate' }))}
        >
          <Icon name="retry" />
          Run again
        </button>
      )}
    </section>
  );
}

/** Why the agent went stands in the timeline; here is what went with it. */
function lostIn(reason = ''): string {
  const told = /turn \d+ was cut.*$/.exec(reason)?.[0] ?? 'The agent was lost in the middle of this turn';
  return `${told.charAt(0).toUpperCase()}${told.slice(1)}`;
}
