import { err, ok, type Result } from '@concerto/base';
import type { ConcertoClient } from '@concerto/client';
import type { Graph, GraphDocument } from '@concerto/protocol';
import { failureOf } from '../fetching/failure.ts';
import { emptyGraph, type GraphHistory, newHistory, redo, taken, undo } from './graph-history.ts';

/** Of so many sessions it is kept which of their changes are in the graph. */
const sessionsMax = 50;
/** A server that is away may be back soon. */
const againAfterMs = 3_000;

type Apply = (graph: Graph) => Result<Graph, string>;
/** The place in a session's events where a change was told. */
type Told = { readonly session: string; readonly position: number };
type Change = { readonly label: string; readonly by: string; readonly apply: Apply; readonly told?: Told | undefined };

export type GraphState = {
  readonly history: GraphHistory;
  /** Whether it is known what the server has. */
  readonly isLoaded: boolean;
  /** Whether the server has what is shown. */
  readonly isSaved: boolean;
};

type Ports = {
  readonly client: Pick<ConcertoClient, 'graph' | 'putGraph'>;
  readonly complain: (text: string) => void;
};

/**
 * The graph of the project, as the server has it. A change is shown at once and sent then; where somebody was quicker it is made
 * again on what they made, or dropped with a word.
 */
export class GraphStore {
  readonly #ports: Ports;
  readonly #listeners = new Set<() => void>();
  #state: GraphState = { history: newHistory(emptyGraph), isLoaded: false, isSaved: true };
  #version = 0;
  /** The steps up to what the server has. */
  #saved = newHistory(emptyGraph);
  #seen = new Map<string, number>();
  /** Shown, and not known to be with the server. */
  #pending: readonly Change[] = [];
  #work: 'none' | 'under way' | 'and again' = 'none';

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  readonly state = (): GraphState => this.#state;

  readonly subscribe = (onChange: () => void): (() => void) => {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  };

  /** One step with its name; nothing happens when it is refused or changes nothing. */
  change(change: Change): Result<Graph, string> {
    const { label, by, apply, told } = change;
    const { history } = this.#state;
    const applied = apply(history.graph);
    if (told !== undefined) this.#see(told);
    const isOther = applied.ok && applied.value !== history.graph;
    if (isOther) this.#set({ history: taken(history, applied.value, label, by) });
    if (isOther || told !== undefined) this.#send(isOther ? change : { ...change, apply: ok });
    return applied;
  }

  readonly undo = (): void => this.#step(undo, 'Undo');
  readonly redo = (): void => this.#step(redo, 'Redo');

  /** Up to which of its events a session's changes are in the graph. */
  seen(session: string): number {
    return this.#seen.get(session) ?? 0;
  }

  /** Reads what the server has, and sends what it has not; whenever either may be news. */
  readonly sync = async (): Promise<void> => {
    if (this.#work !== 'none') {
      this.#work = 'and again';
      return;
    }
    do {
      this.#work = 'under way';
      try {
        await this.#exchange();
      } catch (cause) {
        if (this.#pending.length > 0) this.#ports.complain(`The graph is not saved yet. ${failureOf(cause).text}`);
        setTimeout(() => void this.sync(), againAfterMs);
        break;
      }
    } while (this.#isWanted());
    this.#work = 'none';
  };

  #isWanted(): boolean {
    return this.#work === 'and again';
  }

  async #exchange(): Promise<void> {
    // Whoever has something to send hears by that whether there is news.
    if (!this.#state.isLoaded || this.#pending.length === 0) this.#take(await this.#ports.client.graph());
    while (this.#pending.length > 0) {
      const sent = this.#pending;
      const { history } = this.#state;
      const { graph } = history;
      const label = sent
        .map((change) => change.label)
        .join(', ')
        .slice(0, 500);
      try {
        const put = { graph, version: this.#version, label, seen: Object.fromEntries(this.#seen) };
        const { version } = await this.#ports.client.putGraph(put);
        this.#version = version;
        this.#saved = history;
        this.#pending = this.#pending.slice(sent.length);
      } catch (cause) {
        if (failureOf(cause).code !== 'stale_graph') throw cause;
        this.#take(await this.#ports.client.graph());
      }
    }
    this.#set({ isSaved: true });
  }

  /** What is pending is made again on what the server has. */
  #take({ graph, version, seen, label = 'Changed elsewhere', by = '' }: GraphDocument): void {
    if (this.#state.isLoaded && version === this.#version) return;
    const first = !this.#state.isLoaded;
    this.#version = version;
    this.#seen = new Map(Object.entries(seen));
    this.#saved = first ? newHistory(graph) : taken(this.#saved, graph, label, by);
    let history = this.#saved;
    const kept: Change[] = [];
    for (const change of this.#pending) {
      const { told } = change;
      if (told !== undefined && told.position <= this.seen(told.session)) continue;
      const applied = change.apply(history.graph);
      if (!applied.ok) {
        this.#ports.complain(`${change.label}: ${applied.error}. Somebody else changed the graph meanwhile.`);
        continue;
      }
      if (applied.value !== history.graph) history = taken(history, applied.value, change.label, change.by);
      if (told !== undefined) this.#see(told);
      kept.push(change);
    }
    this.#pending = kept;
    this.#set({ history, isLoaded: true });
  }

  #step(move: (history: GraphHistory) => GraphHistory, word: string): void {
    const { history } = this.#state;
    const moved = move(history);
    if (moved === history) return;
    const [from, to] = [JSON.stringify(history.graph), moved.graph];
    this.#set({ history: moved });
    const label = (word === 'Undo' ? history.done : history.undone).at(-1)?.label ?? '';
    const apply: Apply = (graph) => (JSON.stringify(graph) === from ? ok(to) : err('it is not as it was'));
    this.#send({ label: `${word}: ${label}`, by: 'you', apply });
  }

  #send(change: Change): void {
    this.#pending = [...this.#pending, change];
    this.#set({ isSaved: false });
    void this.sync();
  }

  #see({ session, position }: Told): void {
    this.#seen.delete(session);
    this.#seen.set(session, position);
    this.#seen = new Map([...this.#seen].slice(-sessionsMax));
  }

  #set(part: Partial<GraphState>): void {
    this.#state = { ...this.#state, ...part };
    for (const onChange of this.#listeners) onChange();
  }
}
