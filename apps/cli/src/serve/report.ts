import { harmless } from '@concerto/base';
import type { Report } from '@concerto/runtime';

/** One line for the operator, with the chain of causes; stacks only when asked for. */
export function reportTo(stream: NodeJS.WritableStream): Report {
  return (message, cause) => {
    stream.write(`concerto: ${harmless(message + describe(cause))}\n`);
    if (process.env.CONCERTO_DEBUG !== undefined && cause instanceof Error) stream.write(`${cause.stack ?? ''}\n`);
  };
}

function describe(cause: unknown): string {
  if (cause === undefined) return '';
  if (!(cause instanceof Error)) return `: ${JSON.stringify(cause)}`;
  return `: ${cause.message}${describe(cause.cause)}`;
}
