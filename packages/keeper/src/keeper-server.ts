import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isToKeeper } from './frame-shapes.ts';
import { FrameSocket } from './frame-socket.ts';
import { type Frame, type FromKeeper, protocolVersion, type RefusalCode, type ToKeeper } from './frames.ts';
import { HeldAgent } from './held-agent.ts';
import { type KeeperNote, readNote, removeNote, socketPathMax, writeNote } from './keeper-folder.ts';
import { describeProcess } from './process-identity.ts';

/** Without an agent and without anybody who might start one. */
const idleMs = 10_000;
/** How often it looks whether its folder still names it. */
const lookEveryMs = 1_000;
/** For an unknown caller to say its secret. */
const helloWithinMs = 5_000;
const connectionsMax = 4_096;
/** What a former owner had asked for comes within this, or is lost with it; epochs of a store that lost some begin again. */
const missedMs = 5_000;

type Caller = FrameSocket<FromKeeper, ToKeeper>;
type Frames<Type extends ToKeeper['type']> = Extract<ToKeeper, { type: Type }>;

/** Holds the agents of one folder until they have ended, whoever comes and goes. */
export class KeeperServer {
  readonly #folder: string;
  readonly #agents = new Map<string, HeldAgent>();
  readonly #starting = new Set<string>();
  /** Asked for and not there: a former owner's start may be under way still, and must not leave an agent that nobody knows. */
  readonly #missed = new Map<string, { readonly epoch: number; readonly at: number }>();
  readonly #callers = new Set<Caller>();
  /** What a caller owns, or owned until another took it. */
  readonly #owned = new Map<Caller, HeldAgent>();
  readonly #secret = randomBytes(32).toString('base64url');
  readonly #server: Server;
  #socketFile = '';
  #idleSince = Date.now();
  #isEnding = false;
  readonly #over: () => void;

  private constructor(folder: string, over: () => void) {
    this.#folder = folder;
    this.#over = over;
    this.#server = createServer((socket) => this.#meet(socket));
    this.#server.maxConnections = connectionsMax;
  }

  /** Undefined when the folder has one that lives. `over` is called when it has ended by itself. */
  static async open(folder: string, over: () => void): Promise<KeeperServer | undefined> {
    if (await livingNote(folder)) return undefined;
    const keeper = new KeeperServer(folder, over);
    try {
      await keeper.#listen();
      return keeper;
    } catch (cause) {
      keeper.#removeSocket();
      throw cause;
    }
  }

  /** Ends every agent, then itself. */
  async end(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    await Promise.all([...this.#agents.values()].map((agent) => agent.endFor('keeper', { atWork: true })));
    for (const agent of this.#agents.values()) agent.forget();
    for (const caller of this.#callers) caller.close();
    this.#server.close();
    removeNote(this.#folder, process.pid);
    this.#removeSocket();
    this.#over();
  }

  /** It may have a folder of its own, elsewhere. */
  #removeSocket(): void {
    rmSync(this.#socketFile, { force: true });
    if (dirname(this.#socketFile) !== this.#folder) rmSync(dirname(this.#socketFile), { recursive: true, force: true });
  }

  async #listen(): Promise<void> {
    this.#socketFile = join(this.#folder, `${process.pid}.sock`);
    if (Buffer.byteLength(this.#socketFile) > socketPathMax) {
      this.#socketFile = join(mkdtempSync(join(tmpdir(), 'concerto-')), 'keeper.sock');
    }
    for (const left of readdirSync(this.#folder)) {
      // Of one that was killed: its agents have ended with it.
      if (/\.(sock|said)$/.test(left)) rmSync(join(this.#folder, left), { force: true });
    }
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#socketFile, resolve);
    });
    chmodSync(this.#socketFile, 0o600);
    const startTime = (await describeProcess(process.pid))?.startTime ?? 'unknown';
    const { pid } = process;
    writeNote(this.#folder, {
      pid,
      startTime,
      version: protocolVersion,
      socket: this.#socketFile,
      secret: this.#secret,
    });
    setInterval(() => this.#look(), lookEveryMs);
  }

  /** A folder that was removed, or that another keeper has, wants nothing of this one; an idle one is not needed. */
  #look(): void {
    if (readNote(this.#folder)?.pid !== process.pid) return void this.end();
    if (this.#agents.size > 0 || this.#starting.size > 0 || this.#callers.size > 0) this.#idleSince = Date.now();
    else if (Date.now() - this.#idleSince > idleMs) void this.end();
  }

  #meet(socket: Socket): void {
    let isKnown = false;
    const caller: Caller = new FrameSocket<FromKeeper, ToKeeper>(socket, isToKeeper, {
      frame: (frame) => {
        if (isKnown) return this.#hear(caller, frame);
        isKnown = this.#greet(caller, frame.head);
        if (isKnown) clearTimeout(stranger);
      },
      closed: () => {
        clearTimeout(stranger);
        this.#callers.delete(caller);
        this.#owned.get(caller)?.leave(caller);
        this.#owned.delete(caller);
      },
    });
    this.#callers.add(caller);
    const stranger = setTimeout(() => caller.close(), helloWithinMs);
  }

  #greet(caller: Caller, hello: ToKeeper): boolean {
    if (hello.type !== 'hello' || !isSame(hello.secret, this.#secret)) {
      this.#refuse(caller, 'secret', 'the secret is not that of this keeper');
      caller.close();
      return false;
    }
    if (hello.version !== protocolVersion) {
      this.#refuse(caller, 'version', `this keeper speaks version ${protocolVersion}, not ${hello.version}`);
      caller.close();
      return false;
    }
    caller.send({ type: 'welcome', version: protocolVersion, pid: process.pid, short: true });
    caller.short = hello.short === true;
    return true;
  }

  #hear(caller: Caller, { head, body }: Frame<ToKeeper>): void {
    switch (head.type) {
      case 'hello':
        return;
      case 'start':
        return void this.#start(caller, head, Buffer.from(body));
      case 'attach':
        return this.#attach(caller, head);
      case 'list':
        caller.send({ type: 'listed', agents: [...this.#agents.values()].map((agent) => agent.describe()) });
        return;
      case 'end':
        return void this.#end(caller, head);
      default:
        this.#hearOwner(caller, head, body);
    }
  }

  /** Nothing that an owner says counts once another has taken its agent. */
  #hearOwner(
    caller: Caller,
    head: Exclude<ToKeeper, Frames<'hello' | 'start' | 'attach' | 'list' | 'end'>>,
    body: Buffer,
  ): void {
    const agent = this.#owned.get(caller);
    if (agent?.isOwnedBy(caller) !== true) return;
    switch (head.type) {
      case 'line':
        return agent.line({ step: head.step, index: head.index }, body, caller);
      case 'note':
        return agent.note(head.step, body);
      case 'ack':
        return agent.confirm(head.bytes);
      case 'signal':
        return agent.signal(head.signal);
      case 'end-own':
        return void agent.end({ stepMs: head.stepMs, atWork: head.atWork });
      case 'forget':
        return agent.forget();
    }
  }

  async #start(caller: Caller, head: Frames<'start'>, about: Buffer): Promise<void> {
    const { agent: name, epoch, launch, stepMs, keepMs } = head;
    const before = this.#agents.get(name);
    if (this.#isEnding) return this.#refuse(caller, 'ending', 'this keeper is ending');
    if (before?.isRunning === true || this.#starting.has(name)) {
      return this.#refuse(caller, 'taken', `an agent ${name} runs already`);
    }
    if (before !== undefined && epoch < before.epoch) return this.#refuseOlder(caller, before);
    if (epoch < this.#missedBy(name)) return this.#refuseOlder(caller, { name, epoch: this.#missedBy(name) });
    before?.forget();
    this.#starting.add(name);
    try {
      const agent: HeldAgent = await HeldAgent.start({
        agent: name,
        epoch,
        launch,
        stepMs,
        keepMs,
        about,
        journal: join(this.#folder, `${randomBytes(9).toString('base64url')}.said`),
        gone: () => {
          if (this.#agents.get(name) === agent) this.#agents.delete(name);
        },
      });
      this.#agents.set(name, agent);
      if (epoch < this.#missedBy(name)) return await this.#dropStarted(caller, agent);
      agent.own(caller, epoch);
      // Whoever wanted it may have gone meanwhile.
      if (this.#callers.has(caller)) this.#owned.set(caller, agent);
      else agent.leave(caller);
    } catch (cause) {
      this.#refuse(caller, 'spawn', cause instanceof Error ? cause.message : String(cause));
    } finally {
      this.#starting.delete(name);
    }
  }

  #attach(caller: Caller, { agent: name, epoch }: Frames<'attach'>): void {
    const agent = this.#agents.get(name);
    if (agent === undefined) {
      this.#miss(name, epoch);
      return this.#refuse(caller, 'unknown', `there is no agent ${name}`);
    }
    if (epoch < agent.epoch) return this.#refuseOlder(caller, agent);
    if (!agent.canBeTakenUp) return this.#refuse(caller, 'cut', `agent ${name} has said more than is kept`);
    this.#owned.set(caller, agent);
    agent.attach(caller, epoch);
  }

  async #end(caller: Caller, { agent: name, epoch, stepMs }: Frames<'end'>): Promise<void> {
    const agent = this.#agents.get(name);
    if (agent === undefined) {
      if (epoch !== undefined) this.#miss(name, epoch);
      return void caller.send({ type: 'done', found: false });
    }
    if (epoch !== undefined && epoch < agent.epoch) return this.#refuseOlder(caller, agent);
    const wasOwned = agent.isOwned;
    await agent.endFor('asked', { stepMs, atWork: true });
    // An owner that is there reads it to its end.
    if (!wasOwned) agent.forget();
    caller.send({ type: 'done', found: true });
  }

  /** Its new owner was told that there is none, and has gone on without it. */
  async #dropStarted(caller: Caller, agent: HeldAgent): Promise<void> {
    this.#refuseOlder(caller, { name: agent.name, epoch: this.#missedBy(agent.name) });
    await agent.end({ atWork: true });
    agent.forget();
  }

  #miss(name: string, epoch: number): void {
    const now = performance.now();
    for (const [before, { at }] of this.#missed) {
      // In the order in which they were missed.
      if (now - at < missedMs) break;
      this.#missed.delete(before);
    }
    const known = this.#missedBy(name);
    this.#missed.delete(name);
    this.#missed.set(name, { epoch: Math.max(known, epoch), at: now });
  }

  /** Under which epoch; 0 where nobody has asked for it lately. */
  #missedBy(name: string): number {
    const missed = this.#missed.get(name);
    return missed === undefined || performance.now() - missed.at >= missedMs ? 0 : missed.epoch;
  }

  #refuseOlder(caller: Caller, { name, epoch }: Pick<HeldAgent, 'name' | 'epoch'>): void {
    this.#refuse(caller, 'older-epoch', `agent ${name} belongs to a newer owner (${epoch})`);
  }

  #refuse(caller: Caller, code: RefusalCode, message: string): void {
    caller.send({ type: 'refused', code, message });
  }
}

/** Whether the keeper that the folder names lives. */
export async function livingNote(folder: string): Promise<KeeperNote | undefined> {
  const note = readNote(folder);
  if (note === undefined) return undefined;
  return (await describeProcess(note.pid))?.startTime === note.startTime ? note : undefined;
}

function isSame(given: string, secret: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(secret)];
  return a.length === b.length && timingSafeEqual(a, b);
}
