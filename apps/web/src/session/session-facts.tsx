import type { Session, Usage } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Age } from '../time/moment.tsx';

type Props = { readonly session: Session; readonly usage: Usage | undefined; readonly position: number };

export function SessionFacts({ session, usage = session.usage, position }: Props): ReactNode {
  const { agent, kind, turn, createdAt, capabilities, once, id } = session;
  const tokens = usage.inputTokens + usage.outputTokens;
  return (
    <section className="panel" aria-labelledby="facts-title">
      <h2 id="facts-title">Session</h2>
      <dl className="facts">
        <dt>{kind}</dt>
        <dd>{agent}</dd>
        <dt>started</dt>
        <dd>
          <Age at={createdAt} />
        </dd>
        <dt>turn</dt>
        <dd>
          {turn}
          {once === true && ' (ends with its first result)'}
        </dd>
        <dt>events</dt>
        <dd>{position.toLocaleString()}</dd>
        {tokens > 0 && (
          <>
            <dt>tokens</dt>
            <dd>
              {usage.inputTokens.toLocaleString()} in, {usage.outputTokens.toLocaleString()} out
            </dd>
          </>
        )}
        {usage.costMicroUsd !== undefined && (
          <>
            <dt>cost</dt>
            <dd>{dollars(usage.costMicroUsd)}</dd>
          </>
        )}
        <dt>can</dt>
        <dd>
          {capabilities === undefined || capabilities.length === 0 ? 'nothing announced' : capabilities.join(', ')}
        </dd>
        <dt>id</dt>
        <dd>
          <code className="session-id">{id}</code>
        </dd>
      </dl>
    </section>
  );
}

function dollars(micro: number): string {
  return `$${(micro / 1_000_000).toFixed(micro < 10_000 ? 4 : 2)}`;
}
