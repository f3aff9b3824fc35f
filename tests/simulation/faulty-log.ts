import { type Append, type Appended, type EventLog, LogError } from '@concerto/log';
import type { VirtualClock } from '../../packages/runtime/test/virtual-clock.ts';
import type { Random } from './random.ts';

export type Fault = 'none' | 'crash-before' | 'crash-after' | 'fail-before' | 'fail-after';

/** Decides what becomes of each call; every call of a port is one place at which the world may end. */
export type Fate = {
  next(call: string): Fault;
  /** Virtual milliseconds until an answer comes. */
  delay(): number;
};

/** A call of a process that has died: nothing comes back, ever. */
export function never<T>(): Promise<T> {
  return new Promise<T>(() => {});
}

/** What one process does through its ports. When it dies, whatever it waits for never comes. */
export class PortGate {
  #alive = true;
  #awake: Promise<void> | undefined;
  readonly #fate: Fate;
  readonly #clock: VirtualClock;
  readonly #died: (() => void)[] = [];

  constructor(fate: Fate, clock: VirtualClock) {
    this.#fate = fate;
    this.#clock = clock;
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** At once when it is over already: some die in their first moment. */
  onDeath(call: () => void): void {
    if (this.#alive) this.#died.push(call);
    else call();
  }

  die(): void {
    if (!this.#alive) return;
    this.#alive = false;
    for (const call of this.#died.splice(0)) call();
  }

  /** SIGSTOP, and SIGCONT later: it does not know that time has passed, and goes on where it was. */
  sleep(ms: number): void {
    if (this.#awake !== undefined) return;
    this.#awake = this.#wait(ms).then(() => {
      this.#awake = undefined;
    });
  }

  async call<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (!this.#alive) return await never<T>();
    const fault = this.#fate.next(name);
    if (fault === 'crash-before') {
      this.die();
      return await never<T>();
    }
    const delay = this.#fate.delay();
    if (delay > 0) await this.#wait(delay);
    await this.#awake;
    if (!this.#alive) return await never<T>();
    if (fault === 'fail-before') throw new LogError('unavailable', 'the store is away');
    const result = await work();
    await this.#awake;
    if (fault === 'crash-after') this.die();
    if (!this.#alive) return await never<T>();
    if (fault === 'fail-after') throw new LogError('unavailable', 'the store was lost while it answered');
    return result;
  }

  /** What the process of a machine does takes its time. */
  async machine<T>(name: string, work: () => Promise<T>): Promise<T> {
    const delay = this.#fate.delay();
    if (delay > 0) await this.#wait(delay);
    return await this.pipe(name, work);
  }

  /** A word to an agent's process: it takes no time and fails only by itself, but we may die around it. */
  async pipe<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (!this.#alive) return await never<T>();
    const fault = this.#fate.next(name);
    if (fault === 'crash-before') this.die();
    await this.#awake;
    if (!this.#alive) return await never<T>();
    const result = await work();
    if (fault === 'crash-after') this.die();
    return this.#alive ? result : await never<T>();
  }

  /** Alarms of a process that has died do not go off. */
  at(instant: number, call: () => void): () => void {
    let cancelled = false;
    const cancel = this.#clock.at(instant, () => {
      const ring = (): void => {
        if (this.#alive && !cancelled) call();
      };
      if (this.#awake === undefined) ring();
      else void this.#awake.then(ring);
    });
    return () => {
      cancelled = true;
      cancel();
    };
  }

  async #wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#clock.at(this.#clock.now() + ms, resolve);
    });
  }
}

/** As a store does that cannot take both at once: the world may end between them. */
async function appendOneByOne(gate: PortGate, log: EventLog, { next, ...append }: Append): Promise<Appended> {
  const first = await gate.call('append', () => log.append(append));
  if (first.kind !== 'appended') return first;
  const followed = next?.(first.positions);
  return followed === undefined ? first : { ...first, next: await appendOneByOne(gate, log, followed) };
}

/** The shared store as one process sees it; one that joins takes an append and what follows from it at once. */
export function logBehind(gate: PortGate, log: EventLog, joins: boolean): EventLog {
  return {
    joins,
    append: (append) => (joins ? gate.call('append', () => log.append(append)) : appendOneByOne(gate, log, append)),
    read: (request) => gate.call('read', () => log.read(request)),
    head: (session, stream) => gate.call('head', () => log.head(session, stream)),
    onGrowth: (listener, session) => {
      const stop = log.onGrowth((grown) => {
        if (gate.alive) listener(grown);
      }, session);
      gate.onDeath(stop);
      return stop;
    },
    onRewind: (listener) => log.onRewind(listener),
    trim: (session, stream, position) => gate.call('trim', () => log.trim(session, stream, position)),
    putDocument: (write) => gate.call('putDocument', () => log.putDocument(write)),
    createDocument: (write) => gate.call('createDocument', () => log.createDocument(write)),
    getDocument: (collection, key) => gate.call('getDocument', () => log.getDocument(collection, key)),
    listDocuments: (request) => gate.call('listDocuments', () => log.listDocuments(request)),
    acquireLease: (request) => gate.call('acquireLease', () => log.acquireLease(request)),
    renewLease: (request) => gate.call('renewLease', () => log.renewLease(request)),
    releaseLease: (request) => gate.call('releaseLease', () => log.releaseLease(request)),
    listSessions: (after, limit) => log.listSessions(after, limit),
    size: () => log.size(),
    ping: () => log.ping(),
    close: async () => {},
  };
}

/** Trouble by chance, in the measure of the weather. */
export class Weather implements Fate {
  /** At each of them the world may end. */
  calls = 0;
  /** Calls fail while it is away. */
  away = false;
  crashes = 0;
  failures = 0;
  slowness = 0;
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  calm(): void {
    this.away = false;
    this.crashes = 0;
    this.failures = 0;
    this.slowness = 0;
  }

  next(): Fault {
    this.calls += 1;
    if (this.away) return 'fail-before';
    const drawn = this.#random.next();
    if (drawn < this.crashes) return this.#random.chance(0.5) ? 'crash-before' : 'crash-after';
    if (drawn < this.crashes + this.failures) return this.#random.chance(0.5) ? 'fail-before' : 'fail-after';
    return 'none';
  }

  delay(): number {
    return this.#random.chance(this.slowness) ? this.#random.between(1, 400) : 0;
  }
}
