import type { ReactNode } from 'react';
import { client } from '../client.ts';
import { useFetched } from '../fetching/use-fetched.ts';

/** Under which name things are done here, and as what; whoever holds the server's own token needs no telling. */
export function WhoAmI(): ReactNode {
  const { value: me } = useFetched((signal) => client.me({ signal }), { key: 'me' });
  if (me === undefined || me.name === 'owner') return null;
  return (
    <span className="who-am-i" title={me.role === 'observer' ? 'An observer reads and changes nothing' : undefined}>
      {me.name} <small>{me.role}</small>
    </span>
  );
}
