import { LogError } from '../event-log.ts';
import { decodeRecent, type Recent } from './recent-text.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { textAt } from './sqlite-row.ts';

export type SqliteRecent = {
  /** One statement that is a commit of its own. Throws when the store has another owner by now. */
  add(text: string): void;
  all(): Generator<Recent>;
  clear(): void;
  damaged(): LogError;
};

/** The table of what is stored and not in its place: a row for each commit, in their order. */
export function sqliteRecent({ db, path, ownership }: SqliteDatabase): SqliteRecent {
  const { fence } = ownership;
  const insert = db.prepare('INSERT INTO recent (body) SELECT ? FROM facts WHERE name = ? AND value = ?');
  const select = db.prepare('SELECT body FROM recent ORDER BY id').raw();
  const remove = db.prepare('DELETE FROM recent');
  const damaged = (): LogError =>
    new LogError('corrupt', `the store ${path} is damaged: what was written last is not whole; restore a backup`);
  return {
    add(text) {
      if (insert.run(text, fence.name, fence.value).changes === 1) return;
      ownership.check();
      throw new LogError('unavailable', `the store ${path} did not take what was written`);
    },
    *all() {
      for (const row of select.all()) {
        const recent = decodeRecent(textAt(row, 0));
        if (recent === undefined) throw damaged();
        yield recent;
      }
    },
    clear: () => void remove.run(),
    damaged,
  };
}
