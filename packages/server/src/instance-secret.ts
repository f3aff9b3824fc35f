import { randomBytes } from 'node:crypto';
import type { EventLog } from '@concerto/log';

const collection = 'server';
const key = 'instance';

/** For a store that lost it: those that are started later are to know the cookies of those that run. */
export async function keepInstanceSecret(log: EventLog, secret: string): Promise<void> {
  await log.createDocument({ collection, key, value: secret });
}

/** Made once for a store, so that its cookies outlive a restart and are good at each of its servers. */
export async function instanceSecret(log: EventLog): Promise<string> {
  const known = await log.getDocument(collection, key);
  if (known !== undefined) return known.value;
  const made = JSON.stringify(randomBytes(24).toString('base64url'));
  if (await log.createDocument({ collection, key, value: made })) return made;
  return (await log.getDocument(collection, key))?.value ?? made;
}
