import { err, ok, type Result } from '@concerto/base';
import type { EventLog } from '@concerto/log';
import { GraphDocument, type OverviewEvent, type PutGraph, readStored } from '@concerto/protocol';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import { overviewStream } from './overview.ts';

/** Not a session's id: no client can propose one with this character. */
const graphStream = '@graph';
const graphCollection = 'graph';
const graphKey = 'graph';
/** Characters of the graph as JSON. */
const graphLengthMax = 1_000_000;
/** What is kept of who changed it and how; the graph itself is a document. */
const keptChanges = 1_000;

const empty: GraphDocument = { graph: { nodes: [], edges: [] }, version: 0, seen: {} };

/** The graph of this project, replaced as a whole, by version; whoever watches everything is told. */
export class GraphBook {
  readonly #log: EventLog;

  constructor(log: EventLog) {
    this.#log = log;
  }

  async read(): Promise<GraphDocument> {
    const stored = await this.#log.getDocument(graphCollection, graphKey);
    return stored === undefined ? empty : readStored(GraphDocument, JSON.parse(stored.value));
  }

  async put({ graph, version, seen, label }: PutGraph, by: string): Promise<Result<GraphDocument, ServiceRefusal>> {
    const document: GraphDocument = { graph, version: version + 1, seen, label, by };
    const value = JSON.stringify(document);
    if (value.length > graphLengthMax)
      return err(refusal('graph_too_large', `the graph has more than ${graphLengthMax} characters`));
    const at = new Date().toISOString();
    const appended = await this.#log.append({
      session: graphStream,
      streams: [
        {
          stream: 'domain',
          expected: version,
          entries: [{ type: 'graph-put', data: JSON.stringify({ type: 'graph-put', label, by, at }) }],
        },
      ],
      documents: [{ collection: graphCollection, key: graphKey, value }],
    });
    if (appended.kind !== 'appended') {
      const { version: current } = await this.read();
      const message = `the graph is at version ${current}, not ${version}: read it again`;
      return err(refusal('stale_graph', message, { version: current }));
    }
    if (document.version > keptChanges) await this.#log.trim(graphStream, 'domain', document.version - keptChanges);
    await this.#tell({ type: 'graph', version: document.version }, at);
    return ok(document);
  }

  async #tell(event: OverviewEvent, at: string): Promise<void> {
    const data = JSON.stringify({ ...event, at });
    await this.#log.append({
      session: overviewStream,
      streams: [{ stream: 'events', entries: [{ type: event.type, data }] }],
    });
  }
}
