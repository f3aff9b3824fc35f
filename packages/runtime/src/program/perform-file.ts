import { appendFile, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Json } from '@concerto/base';
import type { ProgramRequest } from './machine/machine.ts';

import { WorldFailure } from './program-world.ts';

/** A file above this is not read into a string of the program. */
const LARGEST_FILE_BYTES = 256 * 1024 * 1024;

export async function performFile(
  request: Extract<ProgramRequest, { kind: 'file' }>,
  directory: string,
): Promise<Json> {
  const path = resolve(directory, request.path);
  try {
    switch (request.op) {
      case 'read':
        return await readText(path);
      case 'load':
        return (await exists(path)) ? await readText(path) : null;
      case 'replace':
        await replaceFile(path, request.text);
        return null;
      case 'write':
        await writeFile(path, request.text);
        return null;
      case 'append':
        await appendFile(path, request.text);
        return null;
      case 'exists':
        return await exists(path);
      case 'list':
        return (await readdir(path)).toSorted();
      case 'remove':
        await rm(path);
        return null;
      case 'size':
        return (await stat(path)).size;
    }
  } catch (cause) {
    if (cause instanceof WorldFailure) throw cause;
    throw new WorldFailure('io', fileProblem(cause, request.path), { cause });
  }
}

/** The last replacement of each file that is still being written. */
const replacing = new Map<string, Promise<void>>();

/** Whole, and in the order they were asked for: the last text stays, also when we are killed in between. */
async function replaceFile(path: string, text: string): Promise<void> {
  const before = replacing.get(path);
  const work = (async () => {
    await before?.catch(() => undefined);
    const part = `${path}.${process.pid}.part`;
    const file = await open(part, 'w');
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
  })();
  replacing.set(path, work);
  try {
    await work;
  } finally {
    if (replacing.get(path) === work) replacing.delete(path);
  }
}

async function readText(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size > LARGEST_FILE_BYTES) {
    throw new WorldFailure('io', `the file has ${size} bytes; at most ${LARGEST_FILE_BYTES} can be read`);
  }
  return readFile(path, 'utf8');
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}

const PROBLEMS: { readonly [code: string]: string } = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EISDIR: 'is a directory',
  ENOTDIR: 'not a directory',
  EEXIST: 'already exists',
  ENOSPC: 'no space left on the device',
  ERR_FS_EISDIR: 'is a directory',
};

/** With the path as the program wrote it: ours would tell where the program happens to run. */
function fileProblem(cause: unknown, path: string): string {
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  return `${path}: ${PROBLEMS[code] ?? (cause instanceof Error ? cause.message : String(cause))}`;
}
