export type Theme = 'system' | 'light' | 'dark';

const key = 'concerto.theme';
const order: readonly Theme[] = ['system', 'light', 'dark'];

export function storedTheme(): Theme {
  try {
    return order.find((theme) => theme === localStorage.getItem(key)) ?? 'system';
  } catch {
    return 'system'; // A browser that keeps nothing for us.
  }
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(key, theme);
  } catch {
    // A browser that keeps nothing for us: the choice lasts until the page is closed.
  }
}

export function nextTheme(theme: Theme): Theme {
  return order[(order.indexOf(theme) + 1) % order.length] ?? 'system';
}
