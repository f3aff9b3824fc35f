import { activeAtOf, type Session } from '@concerto/protocol';

const shownMax = 8;

/** Where sessions have worked of late, the last first; of a checkout of its own the repository that it is of. */
export function recentFolders(
  sessions: Iterable<Pick<Session, 'updatedAt' | 'activeAt' | 'settings'>>,
): readonly string[] {
  const latest = [...sessions].toSorted((a, b) => (activeAtOf(a) < activeAtOf(b) ? 1 : -1));
  const folders = latest.flatMap(({ settings }) => settings?.worktree?.repository ?? settings?.workingDir ?? []);
  return [...new Set(folders)].slice(0, shownMax);
}
