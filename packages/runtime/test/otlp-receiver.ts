import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ReceivedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code: number };
  /** By their names. */
  readonly attributes: Readonly<Record<string, string | number>>;
};

export type OtlpReceiver = {
  readonly url: string;
  /** What a collector would have. */
  readonly spans: ReceivedSpan[];
  /** Every byte that came. */
  readonly bodies: string[];
  readonly headers: Record<string, unknown>[];
  /** What it answers from now on; 0: nothing at all. */
  answer(status: number): void;
  close(): Promise<void>;
};

type Sent = {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly RawSpan[] }[] }[];
};
type RawSpan = Omit<ReceivedSpan, 'attributes'> & { readonly attributes: readonly RawAttribute[] };
type RawAttribute = {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string };
};

/** A collector on loopback that takes OTLP over HTTP as JSON. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const headers: Record<string, unknown>[] = [];
  let status = 200;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += String(chunk);
    });
    request.on('end', () => {
      if (request.method !== 'POST' || request.url !== '/v1/traces') return response.writeHead(404).end();
      headers.push(request.headers);
      if (status === 0) return undefined;
      if (status === 200) {
        bodies.push(body);
        const sent: Sent = JSON.parse(body);
        for (const { scopeSpans } of sent.resourceSpans)
          for (const scope of scopeSpans) spans.push(...scope.spans.map(plainSpan));
      }
      return response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    bodies,
    headers,
    answer: (next) => {
      status = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function plainSpan(span: RawSpan): ReceivedSpan {
  const attributes = span.attributes.map(
    ({ key, value }) => [key, value.stringValue ?? Number(value.intValue)] as const,
  );
  return { ...span, attributes: Object.fromEntries(attributes) };
}
