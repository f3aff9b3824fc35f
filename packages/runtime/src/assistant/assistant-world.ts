import { mkdir, readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { GroupProcess } from '@concerto/agents';
import type { Json } from '@concerto/base';
import { whereItLeads } from '../answer/where-it-leads.ts';
import { typeOfBytes } from '../contents/file-type.ts';
import { performHttp } from '../program/perform-http.ts';
import { WithFiles } from './assistant-result.ts';

/** Where an assistant works, and what its processes carry so that they are found should we be killed. */
export type World = { readonly directory: string; readonly marker: string };

const textBytesMax = 512 * 1024;
const pictureBytesMax = 8 * 1024 * 1024;
const listedMax = 1_000;
const commandWithinMs = 120_000;
const outputCharactersMax = 64_000;
const pipesWithinMs = 1_000;
/** Of our own variables a command gets these. */
const inherited = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'TZ'];

/** A text, or a picture as such. */
export async function readAsFile(path: string, { directory }: World): Promise<Json | WithFiles> {
  const file = await inside(directory, path);
  const { size } = await stat(file);
  if (size > pictureBytesMax) throw new Error(`${path} has ${size} bytes; at most ${pictureBytesMax} are read`);
  const bytes = await readFile(file);
  const mimeType = typeOfBytes(bytes);
  if (mimeType !== undefined) {
    const picture = { inlineData: { mimeType, data: bytes.toString('base64'), title: path } };
    return new WithFiles('', [picture]);
  }
  if (bytes.includes(0)) throw new Error(`${path} is no text`);
  if (size <= textBytesMax) return bytes.toString('utf8');
  return `${bytes.toString('utf8', 0, textBytesMax)}\n[cut after ${textBytesMax} of ${size} bytes]`;
}

export async function listFolder(path: string, { directory }: World): Promise<Json> {
  const entries = await readdir(await inside(directory, path), { withFileTypes: true });
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted();
  return names.length <= listedMax ? names : [...names.slice(0, listedMax), `… ${names.length - listedMax} more`];
}

export async function writeText(path: string, content: string, { directory }: World): Promise<Json> {
  const file = await inside(directory, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
  return { written: Buffer.byteLength(content) };
}

export async function fetchText(url: string, signal: AbortSignal): Promise<Json> {
  return await performHttp({ id: 0, kind: 'http', method: 'GET', url, headers: {}, body: null }, signal);
}

/** Without a shell, in a group of its own that ends with the turn. */
export async function runCommand(command: readonly string[], world: World, signal: AbortSignal): Promise<Json> {
  const [program = '', ...args] = command;
  const env = Object.fromEntries(
    inherited.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name] ?? '']])),
  );
  const { directory: cwd, marker } = world;
  const output = new Output();
  const running = await GroupProcess.start(
    { command: program, args, cwd, env, marker },
    // At once: what a process that has already ended wrote is thrown away unless somebody listens.
    {
      onSpawn: ({ stdout, stderr }) => {
        for (const pipe of [stdout, stderr]) pipe.setEncoding('utf8').on('data', (text: string) => output.add(text));
      },
    },
  );
  running.stdin.end();
  const late = AbortSignal.timeout(commandWithinMs);
  const stop = (): void => void running.end({ atWork: true });
  const over = AbortSignal.any([signal, late]);
  over.addEventListener('abort', stop, { once: true });
  if (over.aborted) stop();
  const written = Promise.allSettled([finished(running.stdout), finished(running.stderr)]);
  const { code, signal: by } = await running.exited;
  // What got away from its group may hold its pipes open.
  await Promise.race([written, sleep(pipesWithinMs)]);
  over.removeEventListener('abort', stop);
  signal.throwIfAborted();
  if (late.aborted) throw new Error(`it did not end within ${commandWithinMs / 1000} s; it wrote:\n${output.text}`);
  return { exit_code: code ?? `killed by ${by ?? 'a signal'}`, output: output.text };
}

/** Of what is written too much of, the end. */
class Output {
  #text = '';
  #cut = 0;

  add(text: string): void {
    this.#text += text;
    const over = this.#text.length - outputCharactersMax;
    if (over <= 0) return;
    this.#cut += over;
    this.#text = this.#text.slice(over);
  }

  get text(): string {
    return this.#cut === 0 ? this.#text : `[${this.#cut} characters before]\n${this.#text}`;
  }
}

/** The real place of a path, which must lie in the folder, whatever links lead there. */
async function inside(directory: string, path: string): Promise<string> {
  const root = await realpath(directory);
  const wanted = resolve(root, path);
  const real = await whereItLeads(wanted);
  const way = relative(root, real);
  if (way === '..' || way.startsWith(`..${sep}`) || resolve(root, way) !== real) {
    throw new Error(`${path} is outside of the folder of this assistant`);
  }
  return real;
}
