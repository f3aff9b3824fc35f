import type { Session, SessionView } from '@concerto/protocol';
import { type ReactNode, useRef } from 'react';
import { failureOf } from '../fetching/failure.ts';
import { PlanPanel } from '../plan/plan-panel.tsx';
import { QueuePanel } from '../queue/queue-panel.tsx';
import { Link } from '../routing/link.tsx';
import { usePageTitle } from '../shell/use-page-title.ts';
import { useShortcuts } from '../shell/use-shortcuts.ts';
import { asksYou } from '../status/status-words.ts';
import { Timeline } from '../timeline/timeline.tsx';
import { type Following, useFollowing } from '../timeline/use-following.ts';
import { Announcer } from './announcer.tsx';
import { ChildrenPanel } from './children-panel.tsx';
import { Composer } from './composer.tsx';
import { ConnectionBadge } from './connection-badge.tsx';
import { CutTurn } from './cut-turn.tsx';
import { focusRequest } from './focus-request.ts';
import { LoginProblem } from './login-problem.tsx';
import { SessionFacts } from './session-facts.tsx';
import { SessionHeader, sideId, WaitingLine } from './session-header.tsx';
import { SessionTools } from './session-tools.tsx';
import { ShownSessionContext } from './shown-session.ts';
import { useKeepSeen } from './use-keep-seen.ts';
import { useSession } from './use-session.ts';
import { useShownSession } from './use-shown-session.ts';
import { WorktreePanel } from './worktree-panel.tsx';

/** One session: what happened and happens, what waits, and everything one can say to it. */
export function SessionPage({ id }: { readonly id: string }): ReactNode {
  const { view, items, session, queue, connection, retry, refusal, reload, ...shown } = useSession(id);
  const { status, statusSince, hasFailed, isStale, isReplaying, behind, earlier, unshownTo, readEarlier, hold } = shown;
  const [oldest] = view.requests;
  const earlierItems = { read: readEarlier, hold };
  const drawn = { isBusy: shown.isBusy, isReplaying, isAsking: oldest !== undefined };
  const following = useFollowing({ items, earlier: earlierItems, ...drawn });
  const { context, live } = useShownSession(id, view.turns);
  useKeepSeen(id, isReplaying ? 0 : view.position);
  const field = useRef<HTMLTextAreaElement>(null);
  const isAsking = oldest !== undefined && asksYou({ status, waiting: session?.waiting });
  usePageTitle(session?.title ?? 'Session', isAsking);
  useSessionKeys(view.requests, following, () => field.current?.focus());
  if (refusal !== undefined) return <Refused error={refusal} onRetry={retry} />;
  return (
    <ShownSessionContext value={context}>
      <main className="session-page" tabIndex={-1} data-stale={isStale}>
        <SessionHeader
          id={id}
          session={session}
          status={status}
          isStale={isStale}
          hasFailed={hasFailed}
          isAsking={isAsking}
          statusSince={statusSince}
          onChanged={reload}
          connection={<ConnectionBadge connection={connection} behind={behind} onRetry={retry} />}
        />
        <div className="session-columns">
          <div className="session-main">
            <Timeline
              sessionId={id}
              view={view}
              items={items}
              earlier={earlier}
              unshown={unshownTo}
              following={following}
              isReplaying={isReplaying}
            />
            <WaitingLine session={session} />
            <LoginProblem agent={view.agent} />
            <CutTurn session={session} view={view} />
            {session !== undefined && (
              <Composer
                session={session}
                status={status}
                open={oldest?.event}
                fieldRef={field}
                onSent={following.reveal}
                commands={view.agent.commands}
              />
            )}
          </div>
          <SessionSide id={id} session={session} view={view} live={live} queue={queue} onChanged={reload} />
        </div>
        <Announcer view={view} isReplaying={isReplaying} />
      </main>
    </ShownSessionContext>
  );
}

type SideProps = {
  readonly id: string;
  readonly session: Session | undefined;
  readonly view: SessionView;
  readonly live: ReturnType<typeof useShownSession>['live'];
  readonly queue: ReturnType<typeof useSession>['queue'];
  readonly onChanged: () => void;
};

/** What it means to do, what waits for it, and what it is. */
function SessionSide({ id, session, view, live, queue, onChanged }: SideProps): ReactNode {
  return (
    <aside id={sideId} className="session-side" tabIndex={-1} aria-label="Queue and facts">
      <PlanPanel plan={view.plan} />
      <ChildrenPanel id={id} count={session?.children ?? 0} />
      <QueuePanel {...queue} />
      {session !== undefined && <WorktreePanel session={session} />}
      {session !== undefined && <SessionFacts session={session} view={view} live={live} />}
      <SessionTools
        key={id}
        id={id}
        session={session}
        // Known before all of its events are here.
        position={Math.max(view.position, session?.position ?? 0)}
        onChanged={onChanged}
      />
    </aside>
  );
}

function useSessionKeys(open: SessionView['requests'], { reveal, follow }: Following, write: () => void): void {
  const answer = (): void => focusRequest(open, 'this', reveal);
  useShortcuts({
    a: () => focusRequest(open, 'next', reveal),
    b: follow,
    c: write,
    // On the card that has the focus they answer: until one has it they lead there, and not away from what is asked.
    ...(open.length > 0 ? { y: answer, n: answer, r: answer, s: answer, l: answer } : {}),
  });
}

function Refused({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }): ReactNode {
  const { code, text } = failureOf(error);
  const isGone = code === 'no_such_session' || code === 'cursor_ahead';
  return (
    <main className="stop-page">
      <h1>{isGone ? 'This session does not exist' : 'The session cannot be shown'}</h1>
      <p role="alert">{text}</p>
      {isGone && <p className="muted">A server that keeps its sessions in memory forgets them when it ends.</p>}
      <p className="stop-actions">
        <Link href="/" className="button primary">
          All sessions
        </Link>
        <button type="button" className="button" onClick={onRetry}>
          Try again
        </button>
      </p>
    </main>
  );
}
