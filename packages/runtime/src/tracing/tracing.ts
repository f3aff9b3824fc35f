import type { EventLog } from '@concerto/log';
import { OtlpExporter, type OtlpOptions } from './otlp-exporter.ts';
import { newSpanId, newTrace, readTraceparent, writeTraceparent } from './trace-context.ts';
import { tracedLog } from './traced-log.ts';

/** A call over HTTP, as its span has it. */
type CallFacts = {
  readonly method: string;
  /** The path with its ids left out: what calls are grouped by. */
  readonly route: string;
  readonly status: number;
  readonly session?: string | undefined;
};

/** A call while it is answered. */
export type TracedCall = {
  readonly traceId: string;
  /** What the messages that it sends hang below. */
  readonly traceparent: string;
  end(facts: CallFacts): void;
};

export type Tracing = {
  /** The log that whoever is to be traced appends through. */
  wrap(log: EventLog): EventLog;
  /** Every change is traced; of reading only what a caller traces itself. */
  call(method: string, traceparent: string | undefined): TracedCall | undefined;
  close(): Promise<void>;
};

/** Traces of messages, from the call to the agent and back, for a collector of OpenTelemetry. */
export function openTracing(options: OtlpOptions): Tracing {
  const exporter = new OtlpExporter(options);
  return {
    wrap: (log) => tracedLog(log, exporter.sink, options.report),
    call: (method, header) => {
      const above = readTraceparent(header);
      if (above === undefined && (method === 'GET' || method === 'HEAD')) return undefined;
      const { traceId, sampled } = above ?? newTrace();
      const spanId = newSpanId();
      const start = Date.now();
      const began = performance.now();
      return {
        traceId,
        traceparent: writeTraceparent({ traceId, spanId, sampled }),
        end: ({ method: asked, route, status, session }) => {
          if (!sampled) return;
          exporter.sink([
            {
              traceId,
              spanId,
              parentSpanId: above?.spanId,
              name: `${asked} ${route}`,
              kind: 'server',
              start,
              end: start + performance.now() - began,
              attributes: {
                'http.request.method': asked,
                'http.route': route,
                'http.response.status_code': status,
                'gen_ai.conversation.id': session,
              },
              errorType: status >= 500 ? String(status) : undefined,
            },
          ]);
        },
      };
    },
    close: () => exporter.close(),
  };
}
