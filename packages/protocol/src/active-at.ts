import type { Session } from './http.ts';

/** When something last happened in a session. A row that was written by an older version has only its last record. */
export function activeAtOf({ activeAt, updatedAt }: Pick<Session, 'activeAt' | 'updatedAt'>): string {
  return activeAt ?? updatedAt;
}
