import type { ServerContext } from './server-context.ts';

/** Answered calls by the first digit of their status. */
export class CallCounts {
  readonly byClass = new Map<string, number>();

  count(status: number): void {
    const name = `${Math.trunc(status / 100)}xx`;
    this.byClass.set(name, (this.byClass.get(name) ?? 0) + 1);
  }
}

export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

type Sample = { readonly labels?: string; readonly value: number };

/** What an operator watches, in Prometheus' text format. */
export async function metricsText({ sessions, feeds, version }: ServerContext, calls: CallCounts): Promise<string> {
  const pool = await sessions.pool();
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const one = (value: number): readonly Sample[] => [{ value }];
  return [
    metric('concerto_build_info', 'gauge', 'Which version this is', [{ labels: `version="${version}"`, value: 1 }]),
    metric('concerto_pool_active', 'gauge', 'Slots taken by sessions', one(pool.active)),
    metric('concerto_pool_max', 'gauge', 'Slots there are', one(pool.max)),
    metric('concerto_pool_waiting', 'gauge', 'Sessions that wait for a slot', one(pool.waiting)),
    metric('concerto_event_streams', 'gauge', 'Open event streams', one(feeds.connections.size)),
    metric(
      'concerto_http_responses_total',
      'counter',
      'Answered HTTP calls by class of status',
      [...calls.byClass].map(([name, value]) => ({ labels: `class="${name}"`, value })),
    ),
    metric('process_resident_memory_bytes', 'gauge', 'Resident memory', one(rss)),
    metric('nodejs_heap_size_used_bytes', 'gauge', 'Used heap', one(heapUsed)),
    metric('process_cpu_seconds_total', 'counter', 'CPU time', one((user + system) / 1e6)),
    metric('process_start_time_seconds', 'gauge', 'When the server started', one(startedAt)),
  ].join('');
}

const startedAt = Math.round(Date.now() / 1000 - process.uptime());

function metric(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string {
  const lines = samples.map(({ labels, value }) => `${name}${labels === undefined ? '' : `{${labels}}`} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}
