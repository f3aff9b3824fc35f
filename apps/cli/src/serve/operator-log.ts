import { harmless } from '@concerto/base';
import type { Report } from '@concerto/runtime';
import type { AnsweredCall } from '@concerto/server';
import { UsageError } from '../arguments.ts';

/** What the operator is told: what happens in the house, and each call that was answered. Never a token, never a prompt. */
export type OperatorLog = { readonly report: Report; readonly answered: (call: AnsweredCall) => void };

export const logOptions = {
  'log-format': {
    type: 'string',
    value: 'F',
    help: 'pretty (default) or json: a line of JSON each; or CONCERTO_LOG_FORMAT',
  },
  'log-level': { type: 'string', value: 'L', help: 'debug, info, warn or error; default info; or CONCERTO_LOG_LEVEL' },
} as const;

const formats = ['pretty', 'json'] as const;
const levels = ['debug', 'info', 'warn', 'error'] as const;

type LogFlags = { readonly 'log-format': string | undefined; readonly 'log-level': string | undefined };

export type LogSettings = { readonly format: (typeof formats)[number]; readonly level: (typeof levels)[number] };

export function logSettings(flags: LogFlags): LogSettings {
  const { CONCERTO_LOG_FORMAT: format, CONCERTO_LOG_LEVEL: level } = process.env;
  return {
    format: oneOf(formats, flags['log-format'] ?? format ?? 'pretty', 'log-format'),
    level: oneOf(levels, flags['log-level'] ?? level ?? 'info', 'log-level'),
  };
}

function oneOf<T extends string>(known: readonly T[], given: string, flag: string): T {
  const found = known.find((word) => word === given);
  if (found === undefined) throw new UsageError(`--${flag} is ${known.join(' or ')}, not ${given}`);
  return found;
}

/** On stderr: stdout says when we are ready, and where. */
export async function operatorLog({ format, level }: LogSettings, stream: NodeJS.WritableStream): Promise<OperatorLog> {
  return format === 'json' ? jsonLog(level, stream) : prettyLog(level, stream);
}

/** One line for a person, with the chain of causes; stacks and calls only when asked for. */
function prettyLog(level: LogSettings['level'], stream: NodeJS.WritableStream): OperatorLog {
  const rank = levels.indexOf(level);
  return {
    report: (message, cause) => {
      if (rank > levels.indexOf(cause === undefined ? 'info' : 'error')) return;
      stream.write(`concerto: ${harmless(message + causesOf(cause))}\n`);
      if (process.env.CONCERTO_DEBUG !== undefined && cause instanceof Error) stream.write(`${cause.stack ?? ''}\n`);
    },
    answered: ({ method, path, status, ms }) => {
      if (level === 'debug') stream.write(`concerto: ${method} ${harmless(path)} ${status} ${ms} ms\n`);
    },
  };
}

/** Its library is loaded only where it is used. */
async function jsonLog(level: LogSettings['level'], stream: NodeJS.WritableStream): Promise<OperatorLog> {
  const { default: pino } = await import('pino');
  const log = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  return {
    report: (message, cause) => {
      const facts = aboutOf(message);
      if (cause === undefined) log.info(facts, message);
      else log.error({ ...facts, ...errorOf(cause) }, message);
    },
    answered: (call) => (call.status < 500 ? log.info(call, 'answered') : log.error(call, 'answered')),
  };
}

/** Messages begin with what they are about: `session ID: …`. */
function aboutOf(message: string): Record<string, string> {
  const [, kind, id] = /^(session|request|agent) (\S+): /.exec(message) ?? [];
  return kind === undefined || id === undefined ? {} : { [kind]: id };
}

function errorOf(cause: unknown): Record<string, unknown> {
  const because = causesOf(cause).slice(2);
  return cause instanceof Error ? { because, stack: cause.stack } : { because };
}

function causesOf(cause: unknown): string {
  if (cause === undefined) return '';
  if (!(cause instanceof Error)) return `: ${JSON.stringify(cause)}`;
  return `: ${cause.message}${causesOf(cause.cause)}`;
}
