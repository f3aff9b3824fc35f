import type { Store, StoreRecord } from './store.ts';

export type StoreProblem = { readonly where: string; readonly problem: string };

export type StoreCheck = {
  readonly streams: number;
  readonly entries: number;
  readonly documents: number;
  readonly problems: readonly StoreProblem[];
};

/** What is wrong is told up to here; after so much, more says nothing new. */
const problemsMax = 100;

/** Reads everything once: positions without a gap, data that is JSON, events that carry their own position. */
export async function checkStore(store: Store): Promise<StoreCheck> {
  const problems: StoreProblem[] = [];
  const count = { stream: 0, entry: 0, document: 0, lease: 0 };
  const tell = (where: string, problem: string): void => {
    if (problems.length < problemsMax) problems.push({ where, problem });
  };
  let open: Extract<StoreRecord, { kind: 'stream' }> | undefined;
  let position = 0;
  const close = (): void => {
    if (open !== undefined && position !== open.head)
      tell(`${open.session}/${open.stream}`, `ends at ${position}, and should at ${open.head}`);
    open = undefined;
  };
  for await (const batch of store.dump()) {
    for (const record of batch) {
      count[record.kind] += 1;
      if (record.kind !== 'entry') close();
      if (record.kind === 'stream') {
        open = record;
        position = record.oldest - 1;
      } else if (record.kind === 'entry') {
        const where = `${record.session}/${record.stream} at ${record.position}`;
        if (record.aside === 0 && record.position !== position + 1) tell(where, `follows ${position}`);
        if (record.aside === 0) position = record.position;
        const problem = entryProblem(record);
        if (problem !== undefined) tell(where, problem);
      } else if (record.kind === 'document' && jsonOf(record.value) === undefined) {
        tell(`document ${record.collection}/${record.key}`, 'is no JSON');
      }
    }
  }
  close();
  return { streams: count.stream, entries: count.entry, documents: count.document, problems };
}

function entryProblem({ stream, aside, position, data }: Extract<StoreRecord, { kind: 'entry' }>): string | undefined {
  const value = jsonOf(data);
  if (typeof value !== 'object' || value === null) return 'is no JSON object';
  if (stream !== 'events' || aside > 0) return undefined;
  const seq = 'seq' in value ? value.seq : undefined;
  return seq === position ? undefined : `says that it is number ${JSON.stringify(seq)}`;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
