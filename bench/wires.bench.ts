import { type Asked, ourFanOut } from './fan-out.ts';
import { compare, type Row } from './row.ts';

export const name = 'wires: fan-out of other protocols against our own';

const readers = 100;
const plain: Asked = { path: '/api/sessions/bench/events' };
const noRun = { threadId: 'bench', runId: 'r', messages: [], tools: [], context: [], state: {}, forwardedProps: {} };

const wires: Readonly<Record<string, Asked>> = {
  'AG-UI': { path: '/api/agui/bench', body: JSON.stringify(noRun) },
  'AI SDK': { path: '/api/chat/bench/stream' },
  'Durable Streams': { path: '/api/streams/sessions/bench?offset=-1&live=sse' },
  v1beta1: { path: '/v1beta1/sessions/bench?alt=sse' },
};

export async function run(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [wire, asked] of Object.entries(wires)) {
    rows.push(
      await compare(
        { name: `${wire}: fan-out to ${readers} readers`, unit: 'events/s', target: '>= 0.50' },
        { ours: () => ourFanOut(readers, asked), reference: () => ourFanOut(readers, plain) },
      ),
    );
  }
  return rows;
}
