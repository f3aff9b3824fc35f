import type { Role } from '@concerto/protocol';
import type * as z from 'zod';

/** A call, as the table of calls has it. */
export type Operation = {
  readonly summary: string;
  readonly body?: z.core.$ZodType;
  readonly status?: number;
  readonly answer?: z.core.$ZodType;
  readonly query?: readonly string[];
  readonly stream?: true;
  /** Answers with plain text. */
  readonly text?: true;
  /** Who may: that role and those above it. `anyone` needs no token. */
  readonly role: Role | 'anyone';
  /** Takes, or gives, the bytes of a file of any type. */
  readonly bytes?: 'taken' | 'given';
};
