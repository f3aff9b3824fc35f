import type { ConcertoClient } from '@concerto/client';
import { paint } from '../terminal/paint.ts';
import { print } from '../terminal/print.ts';
import { attach } from './attach.ts';
import { addressOf } from './connect.ts';

/** Follows a session that was just begun, with where it can be found again: from here and in a browser. */
export async function attachTo(
  client: ConcertoClient,
  id: string,
  { json, url }: { readonly json: boolean; readonly url: string | undefined },
): Promise<number> {
  if (!json) print(paint('dim', `${id}  ${addressOf({ url })}/sessions/${id}`));
  return await attach(client, id, { json });
}
