import type { Session, SessionView } from '@concerto/protocol';
import type { ReactNode } from 'react';
import { Link } from '../routing/link.tsx';
import { programPath, sessionPath } from '../routing/route.ts';
import { Age } from '../time/moment.tsx';
import { BudgetMeter } from '../usage/budget-meter.tsx';
import { ContextMeter } from '../usage/context-meter.tsx';
import { dollarsText, usageText } from '../usage/usage-text.ts';
import { Fact } from './fact.tsx';
import { SandboxFact } from './sandbox-fact.tsx';
import { SettingsFacts } from './settings-facts.tsx';

type Props = { readonly session: Session; readonly view: SessionView };

export function SessionFacts({ session, view, live }: Props & { readonly live: readonly string[] }): ReactNode {
  const { agent, kind, turn, createdAt, capabilities, once, id } = session;
  const { version } = view.agent;
  return (
    <section className="panel" aria-labelledby="facts-title">
      <h2 id="facts-title">Session</h2>
      <dl className="facts">
        <Fact name={kind}>
          {kind === 'program' ? (
            <Link href={`${programPath(agent)}?run=${encodeURIComponent(id)}`}>{agent}, its source</Link>
          ) : (
            `${agent} ${version ?? ''}`.trim()
          )}
        </Fact>
        <SandboxFact session={session} />
        <SettingsFacts session={session} view={view} live={live} />
        <Fact name="started">
          <Age at={createdAt} />
        </Fact>
        <Fact name="turn">
          {turn}
          {once === true && ' (ends with its first result)'}
        </Fact>
        <Fact name="events">{view.position.toLocaleString()}</Fact>
        <UsageFacts session={session} view={view} />
        {session.budget !== undefined && (
          <Fact name="budget">
            <BudgetMeter budget={session.budget} />
          </Fact>
        )}
        <Fact name="can">
          {capabilities === undefined || capabilities.length === 0 ? 'nothing announced' : capabilities.join(', ')}
        </Fact>
        {session.forkOf !== undefined && (
          <Fact name="forked">
            <Link href={sessionPath(session.forkOf.session)}>from another session</Link>
          </Fact>
        )}
        <Fact name="id">
          <code className="session-id">{id}</code>
        </Fact>
      </dl>
    </section>
  );
}

function UsageFacts({ session, view }: Props): ReactNode {
  const { total, byModel } = view.usage;
  const isKnown = total.inputTokens + total.outputTokens > 0;
  const { costMicroUsd, ...tokens } = isKnown ? total : session.usage;
  const used = usageText(tokens);
  return (
    <>
      {used !== undefined && <Fact name="tokens">{used}</Fact>}
      {byModel.size > 1 &&
        [...byModel].map(([name, usage]) => (
          <Fact key={name} name="">
            <span className="muted">
              {name}: {usageText(usage)}
            </span>
          </Fact>
        ))}
      {costMicroUsd !== undefined && <Fact name="cost">{dollarsText(costMicroUsd)}</Fact>}
      {view.context !== undefined && (
        <Fact name="context">
          <ContextMeter context={view.context} />
        </Fact>
      )}
    </>
  );
}
