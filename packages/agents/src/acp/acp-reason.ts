import type { JsonRpcRefusal } from '../json-rpc-peer.ts';
import { memberOf } from './json-object.ts';

/** What the agent says about it, and what it adds, which often is the only thing that helps. */
export function refusalText({ message, data }: JsonRpcRefusal): string {
  if (data === undefined || data === null) return message;
  const details = memberOf(data, 'details') ?? data;
  return `${message}: ${typeof details === 'string' ? details : JSON.stringify(details)}`;
}
