import type { Role } from '@concerto/protocol';
import { createContext, useContext } from 'react';

const rank: Readonly<Record<Role, number>> = { observer: 0, agent: 1, member: 2, owner: 3 };

/** As what one is signed in; undefined until the server has said so. */
export const RoleContext = createContext<Role | undefined>(undefined);

/** Whether something that needs a role is offered here: what would be refused is not. */
export function useMay(needs: Role): boolean {
  const role = useContext(RoleContext);
  return role === undefined || rank[role] >= rank[needs];
}
