import { ClientError } from '@concerto/client';
import type { PoolState } from '@concerto/protocol';
import { defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { print, printError, printJson } from '../terminal/print.ts';
import { connect, connectionOptions, failureText } from './connect.ts';

export const spec = defineCommand({
  name: 'pool',
  summary: 'Show how many sessions run, or change how many may.',
  usage: '[MAX]',
  options: connectionOptions,
  maxPositionals: 1,
});

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  const [text] = positionals;
  const max = text === undefined ? undefined : Number(text);
  if (max !== undefined && (!Number.isInteger(max) || max < 1))
    throw new UsageError(`MAX is a whole number from 1, not ${JSON.stringify(text)}`);
  try {
    const client = connect(values);
    const pool = max === undefined ? await client.pool() : await client.configurePool(max);
    if (values.json) printJson(pool);
    else print(`${taken(pool)}, ${pool.waiting} waiting`);
    return 0;
  } catch (cause) {
    if (!(cause instanceof ClientError)) throw cause;
    printError(failureText(cause, values));
    return 1;
  }
}

/** A pool that was made smaller ends nobody. */
function taken({ active, max }: PoolState): string {
  return active > max ? `${active} sessions still run, and ${max} may` : `${active} of ${max} slots taken`;
}
