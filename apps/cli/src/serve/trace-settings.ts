import type { Report } from '@concerto/runtime';
import type { Tracing } from '@concerto/runtime/tracing';
import { UsageError } from '../arguments.ts';
import { ownVersion } from '../own-place.ts';

export const traceOptions = {
  traces: {
    type: 'string',
    value: 'URL',
    help: 'collector of OpenTelemetry (OTLP over HTTP) that gets traces; or OTEL_EXPORTER_OTLP_ENDPOINT; default none',
  },
} as const;

/** Undefined unless somebody asked for it: nothing of it is loaded then. */
export async function tracingOf(
  flags: { readonly traces?: string | undefined },
  report: Report,
): Promise<Tracing | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers = '' } = process.env;
  const url = flags.traces ?? (endpoint === '' ? undefined : endpoint);
  if (url === undefined) return undefined;
  const isMeant = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  if (!isMeant)
    throw new UsageError(`--traces is the http address of a collector, such as http://127.0.0.1:4318, not ${url}`);
  const { openTracing } = await import('@concerto/runtime/tracing');
  return openTracing({ url, headers: headersOf(headers), version: ownVersion(), report });
}

/** `api-key=secret,other=x`, each value as in a URL: what every exporter of OpenTelemetry reads. */
function headersOf(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const [, name, value] = /^\s*([^=\s]+)\s*=(.*)$/.exec(pair) ?? [];
    return name === undefined || value === undefined ? [] : [[name, plain(value.trim())] as const];
  });
  return Object.fromEntries(pairs);
}

function plain(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
