import type { JsonObject } from '@concerto/base';
import type { Refusal } from '@concerto/session';

/** A *no* to a user, with the stable code of the contract and what belongs to it. */
export type ServiceRefusal = { readonly code: string; readonly message: string; readonly details: JsonObject };

export function refusal(code: string, message: string, details: JsonObject = {}): ServiceRefusal {
  return { code, message, details };
}

export function ofDomain({ code, message, ...details }: Refusal): ServiceRefusal {
  return { code, message, details };
}
