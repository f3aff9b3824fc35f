import type { Durations } from '@concerto/log';
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
    metric('concerto_requests_waiting', 'gauge', 'Sessions that wait for an answer', one(live.asking)),
    metric('concerto_request_oldest_seconds', 'gauge', 'How long the oldest of them waits', one(live.askedSeconds)),
    metric('concerto_messages_pending', 'gauge', 'Messages that no agent has yet', one(live.pending)),
    metric('concerto_queue_oldest_seconds', 'gauge', 'How long the oldest of them waits', one(live.queuedSeconds)),
    ...(await agentMetrics(context)),
    ...storeMetrics(context),
    metric('concerto_event_streams', 'gauge', 'Open event streams', one(feeds.connections.size)),
    histogram('concerto_fanout_seconds', 'From the growth of a session until its readers have it', feeds.fanOut.read()),
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

/** Of so many sessions with messages that wait the oldest is looked for. */
const queuesMax = 200;

async function liveSessions({ sessions }: ServerContext) {
  const byStatus: Sample[] = [];
  const now = Date.now();
  const queued: string[] = [];
  let asking = 0;
  let pending = 0;
  let askedAt = now;
  for (const status of SessionStatus.options) {
    if (finalStatuses.includes(status)) continue;
    let value = 0;
    for (let cursor: string | undefined; value < countedMax; ) {
      const page = await sessions.list({ status, limit: pageRows, ...(cursor === undefined ? {} : { cursor }) });
      value += page.sessions.length;
      for (const row of page.sessions) {
        pending += row.pending;
        if (row.pending > 0 && queued.length < queuesMax) queued.push(row.id);
        if (row.waiting?.for !== 'input' && row.waiting?.for !== 'approval') continue;
        asking += 1;
        askedAt = Math.min(askedAt, Date.parse(row.waiting.since));
      }
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
    byStatus.push({ labels: `status="${status}"`, value });
  }
  const sentAt = (await Promise.all(queued.map((id) => oldestPending(sessions, id)))).reduce(
    (oldest, at) => Math.min(oldest, at),
    now,
  );
  return { byStatus, asking, askedSeconds: (now - askedAt) / 1000, pending, queuedSeconds: (now - sentAt) / 1000 };
}

async function oldestPending(sessions: ServerContext['sessions'], id: string): Promise<number> {
  const times = ((await sessions.messages(id))?.pending ?? []).map(({ createdAt }) => Date.parse(createdAt));
  return Math.min(Number.POSITIVE_INFINITY, ...times);
}

async function agentMetrics({ agentsMemory }: ServerContext): Promise<readonly string[]> {
  const memory = await agentsMemory?.();
  if (memory === undefined) return [];
  const sum = memory.reduce((all, bytes) => all + bytes, 0);
  return [
    metric('concerto_agents', 'gauge', 'Agents that run on this machine', [{ value: memory.length }]),
    metric('concerto_agents_memory_bytes', 'gauge', 'Resident memory of all of them', [{ value: sum }]),
    metric('concerto_agent_memory_max_bytes', 'gauge', 'Of the largest', [{ value: Math.max(0, ...memory) }]),
  ];
}

function storeMetrics({ measures }: ServerContext): readonly string[] {
  if (measures === undefined) return [];
  const { appends, appendFailures, takeovers } = measures();
  return [
    histogram('concerto_append_seconds', 'How long an append to the store took', appends),
    metric('concerto_append_failures_total', 'counter', 'Appends that the store refused', [{ value: appendFailures }]),
    metric('concerto_lease_takeovers_total', 'counter', 'Sessions taken from another owner', [{ value: takeovers }]),
  ];
}

function histogram(name: string, help: string, { classes, count, seconds }: Durations): string {
  const buckets = classes.map((upTo) => `${name}_bucket{le="${upTo.seconds}"} ${upTo.count}\n`).join('');
  const sums = `${name}_bucket{le="+Inf"} ${count}\n${name}_sum ${seconds}\n${name}_count ${count}\n`;
  return `# HELP ${name} ${help}\n# TYPE ${name} histogram\n${buckets}${sums}`;
}

const startedAt = Math.round(Date.now() / 1000 - process.uptime());

function metric(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string {
  const lines = samples.map(({ labels, value }) => `${name}${labels === undefined ? '' : `{${labels}}`} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}
