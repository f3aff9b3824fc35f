import type { ConcertoClient } from '@concerto/client';
import { type CommandSpec, type OptionTable, type ParsedArguments, parseArguments, UsageError } from '../arguments.ts';
import { connectionOptions } from './connect.ts';

type Described<Own extends OptionTable> = {
  /** What stands after its name; an ID comes first. */
  readonly usage: string;
  readonly summary: string;
  readonly arguments: { readonly min: number; readonly max: number };
  readonly options: Own;
};

/** A line that was typed, ready to be done. */
type Call = {
  readonly args: readonly string[];
  /** Resolves with the exit code. */
  readonly act: (client: ConcertoClient, args: readonly string[]) => Promise<number>;
};

/** A subcommand of `concerto sessions`. */
export type Verb = Described<OptionTable> & {
  /** Throws `UsageError`; `argv` still has the verb in it. */
  readonly read: (name: string, argv: readonly string[]) => Call;
};

export function defineVerb<const Own extends OptionTable>(
  verb: Described<Own> & {
    run(
      client: ConcertoClient,
      args: readonly string[],
      values: ParsedArguments<Own & typeof connectionOptions>['values'],
    ): Promise<number>;
  },
): Verb {
  const { usage, summary, arguments: count, options } = verb;
  const takes = { ...options, ...connectionOptions };
  return {
    usage,
    summary,
    arguments: count,
    options,
    read: (name, argv) => {
      const { values, positionals } = parseArguments({ ...verbSpec(name, verb), options: takes }, argv);
      const [, ...args] = positionals;
      if (args.length < count.min || args.length > count.max)
        throw new UsageError(`expected: concerto sessions ${name} ${usage}`);
      return { args, act: (client, meant) => verb.run(client, meant, values) };
    },
  };
}

/** What its `--help` shows. */
export function verbSpec(name: string, { usage, summary, options }: Described<OptionTable>): CommandSpec {
  return {
    name: `sessions ${name}`,
    summary: `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`,
    usage,
    options: { ...options, ...connectionOptions },
  };
}
