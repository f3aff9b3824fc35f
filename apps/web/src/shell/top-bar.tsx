import type { ReactNode } from 'react';
import { Link } from '../routing/link.tsx';
import type { Route } from '../routing/route.ts';
import { Icon, type IconName } from './icon.tsx';
import type { Theme } from './theme.ts';

type Props = {
  readonly page: Route['page'];
  readonly theme: Theme;
  readonly onTheme: () => void;
  readonly onHelp: () => void;
  readonly children?: ReactNode;
};

const themeIcons: Readonly<Record<Theme, IconName>> = { system: 'screen', light: 'sun', dark: 'moon' };

/** Each with the pages that stand below it. */
const places: readonly { readonly path: string; readonly name: string; readonly pages: readonly Route['page'][] }[] = [
  { path: '/', name: 'Sessions', pages: ['list', 'session'] },
  { path: '/programs', name: 'Programs', pages: ['programs', 'program'] },
  { path: '/graph', name: 'Graph', pages: ['graph'] },
  { path: '/insight', name: 'Insight', pages: ['insight'] },
  { path: '/settings', name: 'Settings', pages: ['settings'] },
];

export function TopBar({ page, theme, onTheme, onHelp, children }: Props): ReactNode {
  return (
    <header className="top-bar">
      <Link href="/" className="brand" aria-label="Concerto, all sessions">
        <svg viewBox="0 0 32 32" aria-hidden="true" className="brand-mark">
          <path d="M7 13v6M13 8v16M19 12v8M25 6v20" />
        </svg>
        Concerto
      </Link>
      <nav className="top-bar-nav" aria-label="Pages">
        {places.map(({ path, name, pages }) => (
          <Link key={path} href={path} aria-current={currentOf(pages.indexOf(page))}>
            {name}
          </Link>
        ))}
      </nav>
      <div className="top-bar-middle">{children}</div>
      <button
        type="button"
        className="icon-button"
        aria-label={`Theme: ${theme}`}
        title={`Theme: ${theme} (t)`}
        onClick={onTheme}
      >
        <Icon name={themeIcons[theme]} />
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label="Keyboard help"
        title="Keyboard help (?)"
        onClick={onHelp}
      >
        <Icon name="question" />
      </button>
    </header>
  );
}

/** The page itself, or one below it. */
function currentOf(place: number): 'page' | 'true' | undefined {
  if (place === -1) return undefined;
  return place === 0 ? 'page' : 'true';
}
