import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { bundledFile } from '../../../tests/support/bundled-file.ts';
import { type FromKeeper, KeeperClient, type KeeperLine } from '../src/index.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
/** Node's arguments for the keeper from its source. */
export const keeperProgram = [bundledFile(join(root, 'packages/keeper/src/keeper-main.ts'))];

export function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'keeper-')));
  // A keeper whose folder is gone ends what it holds.
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'keeper');
}

export function newClient(folder = newFolder()): KeeperClient {
  return new KeeperClient({ folder, program: keeperProgram });
}

/** One owner's end of the line: collects what it is told. */
export class Owner {
  readonly heads: FromKeeper[] = [];
  readonly notes: string[] = [];
  out = '';
  stderr = '';
  about = '';
  isClosed = false;
  line: KeeperLine | undefined;

  static async open(client: KeeperClient): Promise<Owner> {
    const owner = new Owner();
    owner.line = await client.open({
      frame: ({ head, body }) => {
        if (head.type === 'out') owner.out += body.toString();
        else if (head.type === 'stderr') owner.stderr += body.toString();
        else if (head.type === 'note') owner.notes.push(`${head.step} ${body.toString()}`);
        else {
          if (head.type === 'attached') owner.about = body.toString();
          owner.heads.push(head);
        }
      },
      closed: () => {
        owner.isClosed = true;
      },
    });
    onTestFinished(() => owner.line?.close());
    return owner;
  }

  start(agent: string, script: string, options: { readonly epoch?: number; readonly keepMs?: number } = {}): void {
    const launch = {
      command: process.execPath,
      args: ['-e', script],
      cwd: tmpdir(),
      env: { PATH: process.env.PATH ?? '', GIVEN: 'to the agent' },
      marker: `marker-${agent}-${Math.random()}`,
    };
    const { epoch = 1, keepMs = 60_000 } = options;
    const about = Buffer.from(`about ${agent}`);
    this.line?.send({ type: 'start', agent, epoch, launch, stepMs: 200, keepMs }, about);
  }

  write(step: number, index: number, text: string): void {
    this.line?.send({ type: 'line', step, index }, Buffer.from(`${text}\n`));
  }

  async until<Found>(look: (owner: Owner) => Found | undefined | false): Promise<Found> {
    const deadline = Date.now() + 20_000;
    for (;;) {
      const found = look(this);
      if (found !== undefined && found !== false) return found;
      if (Date.now() > deadline) throw new Error(`it did not happen: ${JSON.stringify(this.heads)} ${this.out}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async head<Type extends FromKeeper['type']>(type: Type): Promise<Extract<FromKeeper, { type: Type }>> {
    const isWanted = (head: FromKeeper): head is Extract<FromKeeper, { type: Type }> => head.type === type;
    return await this.until(({ heads }) => heads.find(isWanted));
  }
}

/** One end of a line as it was first spoken: each head is JSON. */
export class Heard {
  said = '';
  isClosed = false;
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.said += chunk.toString('latin1');
    });
    socket.once('close', () => {
      this.isClosed = true;
    });
    onTestFinished(() => void socket.destroy());
  }

  send(head: Readonly<Record<string, unknown>>, body = ''): void {
    const text = JSON.stringify(head);
    const prefix = Buffer.alloc(8);
    prefix.writeUInt32BE(text.length, 0);
    prefix.writeUInt32BE(body.length, 4);
    this.#socket.write(Buffer.concat([prefix, Buffer.from(text), Buffer.from(body)]));
  }
}
