import type { Role } from '@concerto/protocol';
import type { Caller } from '@concerto/runtime';
import type { Context, MiddlewareHandler } from 'hono';
import { roleFor } from '../openapi.ts';
import { ProblemError } from '../problem.ts';
import type { OnNode } from '../server-context.ts';
import type { KnownPerson } from './people.ts';

const rank: Readonly<Record<Role, number>> = { observer: 0, agent: 1, member: 2, owner: 3 };

const mayNot: Readonly<Record<Role, string>> = {
  observer: 'is an observer and may only read',
  agent: 'calls as an agent and may not do what is left to people',
  member: 'is a member and may not change how things are done',
  owner: '',
};

/**
 * Who may call what is in one table, that of the calls: whatever is not in it is not reached, whoever asks. Before it
 * somebody has found out who calls.
 */
export function checkRole(otherCall: (c: Context) => Response): MiddlewareHandler<OnNode> {
  return async (c, next) => {
    const needs = roleFor(c.req.method, c.req.path);
    if (needs === undefined) return otherCall(c);
    if (needs !== 'anyone') requireRole(c.get('person'), needs, `${c.req.method} ${c.req.path}`);
    return await next();
  };
}

/** Throws for somebody whose role is below. */
export function requireRole({ name, role }: KnownPerson, needs: Role, what: string): void {
  if (rank[role] >= rank[needs]) return;
  throw new ProblemError(
    403,
    'forbidden',
    `${name} ${mayNot[role]}: ${what} needs the role ${needs}; an owner gives it with \`concerto tokens revoke ${name}\` and \`concerto tokens add ${name} --role ${needs}\``,
    { members: { name, role, needs } },
  );
}

/** Who asks, under which key, and in whose trace. */
export function callerOf(c: Context<OnNode>, key: string | undefined): Caller {
  return { actor: actorOf(c), key, trace: c.get('trace')?.traceparent };
}

/** Who asks, as the log names them. */
export function actorOf(c: Context<OnNode>): string {
  return `user:${c.get('person').name}`;
}
