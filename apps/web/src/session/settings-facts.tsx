import type { Session, SessionView } from '@concerto/protocol';
import { type ReactNode, useState } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { useMay } from '../people/may.ts';
import { post } from '../shell/notice-board.ts';
import { Fact } from './fact.tsx';
import { isOver } from './lifecycle-table.ts';
import { SupervisorFact } from './supervisor-fact.tsx';

type Props = { readonly session: Session; readonly view: SessionView; readonly live: readonly string[] };

const switched = ['model', 'mode', 'effort'] as const;
type Switched = (typeof switched)[number];
const offeredAs = { model: 'models', mode: 'modes', effort: 'efforts' } as const;

/** What the session has of its own, and what of it can be switched while it runs. */
export function SettingsFacts({ session, view, live }: Props): ReactNode {
  const { settings, id } = session;
  const maySwitch = useMay('member');
  const switchable = isOver(session.status) || !maySwitch ? [] : live;
  const { model: _model, mode: _mode, effort: _effort, worktree: _worktree, ...params } = settings?.params ?? {};
  return (
    <>
      {switched.map((name) => (
        <SwitchFact key={name} name={name} id={id} agent={view.agent} isLive={switchable.includes(name)} />
      ))}
      {settings?.workingDir !== undefined && (
        <Fact name="folder">
          <code className="session-id">{settings.workingDir}</code>
        </Fact>
      )}
      {Object.entries(params).map(([name, value]) => (
        <Fact key={name} name={name}>
          <code className="session-id">{typeof value === 'string' ? value : JSON.stringify(value)}</code>
        </Fact>
      ))}
      <SupervisorFact session={session} />
    </>
  );
}

type SwitchProps = {
  readonly name: Switched;
  readonly id: string;
  readonly agent: SessionView['agent'];
  readonly isLive: boolean;
};

/** As it stands; a choice asks the agent, and what it makes of it comes as an event. */
function SwitchFact({ name, id, agent, isLive }: SwitchProps): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const current = agent[name];
  const offered = agent[offeredAs[name]] ?? [];
  const ask = async (value: string): Promise<void> => {
    setAsking(true);
    try {
      const { outcome } = await client.changeSettings(id, { [name]: value });
      if (outcome === 'kept') post('info', `Its agent starts with ${name} ${value}.`);
    } catch (cause) {
      post('bad', failureOf(cause).text);
    }
    setAsking(false);
  };
  if (!isLive || offered.length === 0) return current === undefined ? null : <Fact name={name}>{current}</Fact>;
  return (
    <Fact name={name}>
      <select
        className="setting-select"
        aria-label={`Switch the ${name}`}
        value={current ?? ''}
        disabled={isAsking}
        onChange={(event) => void ask(event.target.value)}
      >
        {!offered.some((one) => one.id === current) && <option value={current ?? ''}>{current ?? 'not told'}</option>}
        {offered.map((one) => (
          <option key={one.id} value={one.id} title={one.description}>
            {one.name ?? one.id}
          </option>
        ))}
      </select>
    </Fact>
  );
}
