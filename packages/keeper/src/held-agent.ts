import type { FrameSocket } from './frame-socket.ts';
import type { AgentSignal, EndReason, FromKeeper, LineId, ListedAgent, ToKeeper } from './frames.ts';
import { type EndOptions, GroupProcess, type Launch } from './group-process.ts';
import { readOut } from './read-out.ts';
import { SaidJournal } from './said-journal.ts';

/** What an agent may say that its owner has not confirmed; then it is not read, and waits. */
const unconfirmedMax = 64 * 1024 * 1024;
/** What is kept of all that it said, so that another owner can take it up; beyond, it cannot be taken up. */
const keptMax = 256 * 1024 * 1024;
const notesLengthMax = 64 * 1024 * 1024;
const stdinBufferMax = 32 * 1024 * 1024;
const stderrTailMax = 64 * 1024;
/** Until it tries again whether the disk has room for what the agent says; it is not read before that. */
const roomAgainMs = 1_000;
/** Read from the file and sent at once. */
const pieceLength = 256 * 1024;
/** Whoever keeps agents for a moment only still finds out what became of them. */
const lastWordsMinMs = 60_000;
/** After its exit: for its pipes to end, which something that got away may hold open. */
const pipeCloseMs = 1_000;
/** After stdout ended: for the process to end too. One that lives on can say nothing more. */
const exitAfterStdoutMs = 2_000;

export type OwnerSocket = Pick<
  FrameSocket<FromKeeper, ToKeeper>,
  'send' | 'sendNow' | 'sendSoon' | 'drained' | 'close'
>;

type Owner = { readonly socket: OwnerSocket; sent: number; isLive: boolean };
type Note = { readonly step: number; readonly body: Buffer };

export type HeldOptions = {
  readonly agent: string;
  readonly epoch: number;
  readonly launch: Launch;
  readonly stepMs: number;
  readonly keepMs: number;
  readonly about: Buffer;
  readonly journal: string;
  /** Nothing of it is wanted any more. */
  readonly gone: () => void;
};

/** One agent: its pipes, all that it said, what its driver did, and who owns it now. */
export class HeldAgent {
  readonly name: string;
  readonly since = Date.now();
  epoch: number;
  readonly #options: HeldOptions;
  readonly #process: GroupProcess;
  readonly #said: SaidJournal;
  readonly #notes: Note[] = [];
  #notesLength = 0;
  #isWhole = true;
  #written: LineId | null = null;
  #confirmed = 0;
  #stderr: Buffer = Buffer.alloc(0);
  /** It and what it started have ended; perhaps not all that it said is read. */
  #isOver = false;
  /** What is told of its end, when all that it said was read. */
  #exit: { readonly code: number | null; readonly signal: string | null } | undefined;
  #isForgotten = false;
  #owner: Owner | undefined;
  #unownedTimer: NodeJS.Timeout | undefined;
  #roomTimer: NodeJS.Timeout | undefined;
  #endsAt: number | undefined;
  /** It was ended because for so long nobody owned it. */
  #unownedMs: number | undefined;
  #endReason: EndReason | undefined;

  private constructor(options: HeldOptions, process: GroupProcess, said: SaidJournal) {
    this.name = options.agent;
    this.epoch = options.epoch;
    this.#options = options;
    this.#process = process;
    this.#said = said;
    process.stdout.on('data', (chunk: Buffer) => this.#hear(chunk));
    process.stderr.on('data', (chunk: Buffer) => this.#complain(chunk));
    process.stdout.once('end', () => void this.#endIfMute());
    void this.#watch();
  }

  static async start(options: HeldOptions): Promise<HeldAgent> {
    // First, since a process that cannot be held after all would go on unseen.
    const said = new SaidJournal(options.journal);
    try {
      return new HeldAgent(options, await GroupProcess.start(options.launch, { stepMs: options.stepMs }), said);
    } catch (cause) {
      said.remove();
      throw cause;
    }
  }

  get identity(): GroupProcess['identity'] {
    return this.#process.identity;
  }

  get isRunning(): boolean {
    return !this.#isOver;
  }

  get isOwned(): boolean {
    return this.#owner !== undefined;
  }

  /** Another can rebuild all that its driver knew. */
  get canBeTakenUp(): boolean {
    return this.#isWhole && this.#said.isWhole;
  }

  describe(): ListedAgent {
    return {
      agent: this.name,
      pid: this.identity.pid,
      identity: this.identity,
      since: this.since,
      epoch: this.epoch,
      owned: this.isOwned,
      running: this.isRunning,
      unconfirmed: this.#said.length - this.#confirmed,
      ...(this.#endsAt === undefined ? {} : { endsAt: this.#endsAt }),
    };
  }

  /** Whoever started it hears it from its first byte on. */
  own(socket: OwnerSocket, epoch: number): void {
    this.#takeOver(socket, epoch);
    socket.send({ type: 'started', identity: this.identity });
    this.#catchUp();
  }

  /** Another owner is told all that there ever was. */
  attach(socket: OwnerSocket, epoch: number): void {
    this.#takeOver(socket, epoch);
    const { identity } = this;
    const said = { notes: this.#notes.length, bytes: this.#said.length };
    socket.send({ type: 'attached', identity, written: this.#written, ...said }, this.#options.about);
    for (const { step, body } of this.#notes) socket.send({ type: 'note', step }, body);
    socket.send({ type: 'stderr' }, this.#stderr);
    this.#catchUp();
  }

  /** The connection of this owner is gone. */
  leave(socket: OwnerSocket): void {
    if (this.#owner?.socket !== socket) return;
    this.#owner = undefined;
    this.#awaitOwner();
  }

  isOwnedBy(socket: OwnerSocket): boolean {
    return this.#owner?.socket === socket;
  }

  /** A line that was written before is not written again. */
  line(id: LineId, line: Buffer, socket: OwnerSocket): void {
    if (this.#written !== null && !isAfter(id, this.#written)) {
      socket.send({ type: 'taken', ...id });
      return;
    }
    const { stdin } = this.#process;
    if (stdin.writableLength + line.length > stdinBufferMax) {
      socket.send({ type: 'untaken', reason: 'stalled', ...id });
      return;
    }
    this.#written = id;
    stdin.write(line, (error) => {
      if (error == null) socket.sendSoon({ type: 'taken', ...id });
      else socket.send({ type: 'untaken', reason: 'broken', ...id });
    });
  }

  note(step: number, body: Buffer): void {
    this.#notesLength += body.length;
    if (this.#notesLength > notesLengthMax) {
      this.#isWhole = false;
      this.#notes.length = 0;
    }
    // A copy: the body is part of whatever came over the socket with it.
    if (this.#isWhole) this.#notes.push({ step, body: Buffer.from(body) });
  }

  confirm(bytes: number): void {
    this.#confirmed = Math.max(this.#confirmed, Math.min(bytes, this.#said.length));
    if (this.#said.fileLength > keptMax && this.#confirmed === this.#said.length) this.#said.cut();
    this.#readOn();
  }

  signal(signal: AgentSignal): void {
    this.#process.signal(signal);
  }

  async end(options: EndOptions = {}): Promise<void> {
    await this.#process.end(options);
  }

  /** Ends it though its owner has not asked for that. */
  async endFor(reason: EndReason, options: EndOptions = {}): Promise<void> {
    if (this.isRunning) this.#endReason ??= reason;
    await this.end(options);
  }

  /** Its exit is known where it counts; or nobody will ever ask, and what is still in its pipe is not wanted either. */
  forget(): void {
    if (this.isRunning || this.#isForgotten) return;
    this.#isForgotten = true;
    this.#process.stdout.destroy();
    clearTimeout(this.#unownedTimer);
    clearTimeout(this.#roomTimer);
    this.#owner?.socket.close();
    this.#owner = undefined;
    this.#said.remove();
    this.#options.gone();
  }

  #takeOver(socket: OwnerSocket, epoch: number): void {
    clearTimeout(this.#unownedTimer);
    this.#endsAt = undefined;
    const before = this.#owner;
    this.epoch = epoch;
    this.#owner = { socket, sent: 0, isLive: false };
    before?.socket.send({ type: 'refused', code: 'older-epoch', message: 'another owner has taken the agent up' });
    before?.socket.close();
  }

  #awaitOwner(): void {
    const { keepMs } = this.#options;
    this.#endsAt = Date.now() + keepMs;
    this.#unownedTimer = setTimeout(() => {
      if (this.isRunning) this.#unownedMs = keepMs;
      void this.end().then(() => {
        if (this.#owner !== undefined || this.#isForgotten) return;
        // What it said in the end is kept as long again, for whoever still comes.
        this.#unownedTimer = setTimeout(() => this.forget(), Math.max(keepMs, lastWordsMinMs));
      });
    }, keepMs);
  }

  /** To its owner first, who waits for it; the file is for the next one. */
  #hear(chunk: Buffer): void {
    const owner = this.#owner;
    const isLive = owner?.isLive === true;
    const hasRoom = isLive && owner.socket.sendNow({ type: 'out' }, chunk);
    this.#said.append(chunk);
    if (isLive) {
      owner.sent = this.#said.length;
      if (!hasRoom) this.#catchUp();
    }
    if (!this.#mayBeRead) this.#process.stdout.pause();
    if (!this.#said.hasRoom) this.#awaitRoom();
  }

  /** Of one that has ended only what is in its pipe is left, for which there is memory. */
  get #mayBeRead(): boolean {
    return this.#said.length - this.#confirmed < unconfirmedMax && (this.#said.hasRoom || this.#isOver);
  }

  #readOn(): void {
    if (this.#mayBeRead) this.#process.stdout.resume();
  }

  #awaitRoom(): void {
    this.#roomTimer ??= setTimeout(() => {
      this.#roomTimer = undefined;
      this.#said.settle();
      if (this.#said.hasRoom) this.#readOn();
      else this.#awaitRoom();
    }, roomAgainMs);
  }

  /** From the file, as fast as the owner reads; from then on as it comes. */
  #catchUp(): void {
    const owner = this.#owner;
    if (owner === undefined) return;
    owner.isLive = false;
    owner.socket.drained(() => {
      if (this.#owner !== owner) return;
      while (owner.sent < this.#said.length) {
        const piece = this.#said.read(owner.sent, pieceLength);
        owner.sent += piece.length;
        if (!owner.socket.send({ type: 'out' }, piece)) return this.#catchUp();
      }
      owner.isLive = true;
      this.#tellExit(owner);
    });
  }

  #tellExit({ socket }: Owner): void {
    if (this.#exit === undefined) return;
    const why = {
      ...(this.#unownedMs === undefined ? {} : { unownedMs: this.#unownedMs }),
      ...(this.#endReason === undefined ? {} : { reason: this.#endReason }),
    };
    socket.send({ type: 'exit', ...this.#exit, ...why }, this.#stderr);
  }

  #complain(chunk: Buffer): void {
    this.#stderr = Buffer.from(Buffer.concat([this.#stderr, chunk]).subarray(-stderrTailMax));
    this.#owner?.socket.send({ type: 'stderr' }, chunk);
  }

  async #watch(): Promise<void> {
    const { stdout, stderr, exited } = this.#process;
    const exit = await exited;
    this.#isOver = true;
    this.#readOn();
    await readOut(stdout, pipeCloseMs);
    await readOut(stderr, pipeCloseMs);
    this.#exit = exit;
    if (this.#owner?.isLive === true) this.#tellExit(this.#owner);
  }

  async #endIfMute(): Promise<void> {
    const gone = this.#process.exited.then(() => true);
    const timely = new Promise<boolean>((resolve) => {
      setTimeout(() => resolve(false), exitAfterStdoutMs).unref();
    });
    if (!(await Promise.race([gone, timely]))) await this.endFor('mute');
  }
}

function isAfter(a: LineId, b: LineId): boolean {
  return a.step > b.step || (a.step === b.step && a.index > b.index);
}
