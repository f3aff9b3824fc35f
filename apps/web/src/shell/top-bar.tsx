import type { ReactNode } from 'react';
import { Link } from '../routing/link.tsx';
import { Icon, type IconName } from './icon.tsx';
import type { Theme } from './theme.ts';

type Props = {
  readonly theme: Theme;
  readonly onTheme: () => void;
  readonly onHelp: () => void;
  readonly children?: ReactNode;
};

const themeIcons: Readonly<Record<Theme, IconName>> = { system: 'screen', light: 'sun', dark: 'moon' };

export function TopBar({ theme, onTheme, onHelp, children }: Props): ReactNode {
  return (
    <header className="top-bar">
      <Link href="/" className="brand" aria-label="Concerto, all sessions">
        <svg viewBox="0 0 32 32" aria-hidden="true" className="brand-mark">
          <path d="M7 13v6M13 8v16M19 12v8M25 6v20" />
        </svg>
        Concerto
      </Link>
      <nav className="top-bar-nav" aria-label="Pages">
        <Link href="/programs">Programs</Link>
        <Link href="/graph">Graph</Link>
        <Link href="/insight">Insight</Link>
        <Link href="/settings">Settings</Link>
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
