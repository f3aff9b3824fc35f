import { finalStatuses, SessionStatus } from '@concerto/protocol';
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
export async function metricsText(context: ServerContext, calls: CallCounts): Promise<string> {
  const { sessions, feeds, version } = context;
  const pool = await sessions.pool();
  const live = await liveSessions(context);
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const one = (value: number): readonly Sample[] => [{ value }];
  return [
    metric('concerto_build_info', 'gauge', 'Which version this is', [{ labels: `version="${version}"`, value: 1 }]),
    metric('concerto_pool_active', 'gauge', 'Slots taken by sessions', one(pool.active)),
    metric('concerto_pool_max', 'gauge', 'Slots there are', one(pool.max)),
    metric('concerto_pool_waiting', 'gauge', 'Sessions that wait for a slot', one(pool.waiting)),
    metric('concerto_sessions', 'gauge', 'Sessions that are not over, by status', live.byStatus),
    metric('concerto_requests_waiting', 'gauge', 'Sessions that wait for an answer', one(live.waiting)),
    metric(
      'concerto_request_oldest_seconds',
      'gauge',
      'How long the oldest of them has waited',
      one(live.oldestSeconds),
    ),
    ...storeMetrics(context),
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

/** No more of one status are counted: whoever has more watches the pool. */
const countedMax = 2_000;
const pageRows = 200;

async function liveSessions({ sessions }: ServerContext) {
  const byStatus: Sample[] = [];
  let waiting = 0;
  let oldest = Date.now();
  for (const status of SessionStatus.options) {
    if (finalStatuses.includes(status)) continue;
    let value = 0;
    for (let cursor: string | undefined; value < countedMax; ) {
      const page = await sessions.list({ status, limit: pageRows, ...(cursor === undefined ? {} : { cursor }) });
      value += page.sessions.length;
      for (const row of page.sessions) {
        if (row.waiting === undefined) continue;
        waiting += 1;
        oldest = Math.min(oldest, Date.parse(row.waiting.since ?? row.updatedAt));
      }
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
    byStatus.push({ labels: `status="${status}"`, value });
  }
  return { byStatus, waiting, oldestSeconds: waiting === 0 ? 0 : (Date.now() - oldest) / 1000 };
}

function storeMetrics({ measures }: ServerContext): readonly string[] {
  if (measures === undefined) return [];
  const { appends, appendCount, appendSeconds, appendFailures, takeovers } = measures();
  const name = 'concerto_append_seconds';
  const classes = appends.map(({ seconds, count }) => `${name}_bucket{le="${seconds}"} ${count}\n`).join('');
  return [
    `# HELP ${name} How long an append to the store took\n# TYPE ${name} histogram\n${classes}` +
      `${name}_bucket{le="+Inf"} ${appendCount}\n${name}_sum ${appendSeconds}\n${name}_count ${appendCount}\n`,
    metric('concerto_append_failures_total', 'counter', 'Appends that the store refused', [{ value: appendFailures }]),
    metric('concerto_lease_takeovers_total', 'counter', 'Sessions taken from another owner', [{ value: takeovers }]),
  ];
}

const startedAt = Math.round(Date.now() / 1000 - process.uptime());

function metric(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string {
  const lines = samples.map(({ labels, value }) => `${name}${labels === undefined ? '' : `{${labels}}`} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}
