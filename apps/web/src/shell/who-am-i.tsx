import type { Person, Role } from '@concerto/protocol';
import type { ReactNode } from 'react';

const limits: Readonly<Partial<Record<Role, string>>> = {
  observer: 'An observer reads and changes nothing',
  agent: 'An agent starts and steers, and answers nothing in the place of people',
};

/** Under which name things are done here, and as what; whoever holds the server's own token needs no telling. */
export function WhoAmI({ me }: { readonly me: Person | undefined }): ReactNode {
  if (me === undefined || me.name === 'owner') return null;
  return (
    <span className="who-am-i" title={limits[me.role] ?? `${me.name}, ${me.role}`}>
      {me.name} <small>{me.role}</small>
    </span>
  );
}
