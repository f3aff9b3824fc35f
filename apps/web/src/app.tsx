import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { client } from './client.ts';
import { useFetched } from './fetching/use-fetched.ts';
import { overview } from './live/use-overview.ts';
import { RoleContext } from './people/may.ts';
import { ProgramListPage } from './programs/program-list-page.tsx';
import { Link } from './routing/link.tsx';
import { listAddress } from './routing/list-address.ts';
import { routeOf, sessionPath } from './routing/route.ts';
import { navigate, useLocation } from './routing/use-location.ts';
import { SessionPage } from './session/session-page.tsx';
import { SessionListPage } from './sessions/session-list-page.tsx';
import { Boundary } from './shell/boundary.tsx';
import { BrokenPage } from './shell/broken-page.tsx';
import { HelpDialog } from './shell/help-dialog.tsx';
import { Loading } from './shell/loading.tsx';
import { Notices } from './shell/notices.tsx';
import { applyTheme, nextTheme, storedTheme } from './shell/theme.ts';
import { TopBar } from './shell/top-bar.tsx';
import { useShortcuts } from './shell/use-shortcuts.ts';
import { WhoAmI } from './shell/who-am-i.tsx';
import { NotifyButton } from './waiting/notify-button.tsx';
import { nextWaiting, WaitingButton } from './waiting/waiting-button.tsx';

/** With an editor and the whole checker: only for who goes there. */
const ProgramPage = lazy(async () => ({ default: (await import('./programs/program-page.tsx')).ProgramPage }));

/** With a canvas: only for who goes there. */
const GraphPage = lazy(async () => ({ default: (await import('./graph/graph-page.tsx')).GraphPage }));

const InsightPage = lazy(async () => ({ default: (await import('./insight/insight-page.tsx')).InsightPage }));

const SettingsPage = lazy(async () => ({ default: (await import('./settings/settings-page.tsx')).SettingsPage }));

export function App(): ReactNode {
  const { path } = useLocation();
  const route = routeOf(path);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [theme, setTheme] = useState(storedTheme);
  const { value: me } = useFetched((signal) => client.me({ signal }), { key: 'me' });
  const changeTheme = (): void => {
    const next = nextTheme(theme);
    applyTheme(next);
    setTheme(next);
  };
  const current = route.page === 'session' ? route.id : undefined;
  useFocusOnArrival(path);
  useShortcuts({
    '?': () => setHelpOpen(true),
    g: () => navigate(route.page === 'list' ? '/' : listAddress()),
    p: () => navigate('/programs'),
    s: () => navigate('/settings'),
    u: () => navigate('/insight'),
    t: changeTheme,
    w: () => {
      const next = nextWaiting(overview.state().waiting, current);
      if (next !== undefined) navigate(sessionPath(next.id));
    },
    ...(route.page === 'list' ? {} : { n: () => navigate('/') }),
  });
  return (
    <RoleContext value={me?.role}>
      <TopBar page={route.page} theme={theme} onTheme={changeTheme} onHelp={() => setHelpOpen(true)}>
        <WaitingButton current={current} />
        <NotifyButton />
        <WhoAmI me={me} />
      </TopBar>
      <Boundary key={path} fallback={(error) => <BrokenPage error={error} />}>
        <Suspense fallback={<LoadingPage />}>
          {route.page === 'list' && <SessionListPage />}
          {route.page === 'session' && <SessionPage id={route.id} />}
          {route.page === 'settings' && <SettingsPage />}
          {route.page === 'insight' && <InsightPage />}
          {route.page === 'graph' && <GraphPage />}
          {route.page === 'programs' && <ProgramListPage />}
          {route.page === 'program' && <ProgramPage name={route.name} />}
        </Suspense>
      </Boundary>
      {route.page === 'unknown' && (
        <main className="stop-page">
          <h1>There is nothing here</h1>
          <Link href="/" className="button primary">
            All sessions
          </Link>
        </main>
      )}
      <Notices />
      {isHelpOpen && <HelpDialog onClose={() => setHelpOpen(false)} />}
    </RoleContext>
  );
}

function LoadingPage(): ReactNode {
  return (
    <main className="plain-page" tabIndex={-1} aria-busy="true">
      <Loading />
    </main>
  );
}

/** A page that was come to by a link begins at its beginning, as a loaded one does. */
function useFocusOnArrival(path: string): void {
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    document.querySelector('main')?.focus({ preventScroll: true });
  }, [path]);
}
