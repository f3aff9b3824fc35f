import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { makeProjectState, projectStatePath, projectStatePaths } from './state-folder.ts';

const tokenFile = 'token';
const serverFile = 'server.json';
const projectFile = 'project.json';
const tokenLengthMin = 16;

/** A server that runs for a project now. */
const ServerRecord = z.object({
  url: z.string(),
  pid: z.number().int().positive(),
  /** Which token it asks for: the kept one, one that it was given, or none. */
  token: z.enum(['kept', 'given', 'none']),
  /** Its folder, for people in another one; older servers did not say. */
  project: z.string().optional(),
  /** The folder of the keeper of its agents, if it has one. */
  keeper: z.string().optional(),
});
export type ServerRecord = z.infer<typeof ServerRecord>;

const ProjectFacts = z.object({
  path: z.string(),
  /** Somebody said that its files may configure us and start programs. */
  trusted: z.boolean().default(false),
  /** Its default store was made by us, here. */
  madeStore: z.boolean().default(false),
});
export type ProjectFacts = z.infer<typeof ProjectFacts>;

/** The token of a project's server: made once, so that a restart does not log the browser out. */
export function keptToken(project: string): string {
  const known = readIfThere(join(projectStatePath(project), tokenFile))?.trim();
  if (known !== undefined && known.length >= tokenLengthMin) return known;
  const token = randomBytes(24).toString('base64url');
  write(project, tokenFile, `${token}\n`);
  return token;
}

export function rememberServer(project: string, server: ServerRecord): void {
  write(project, serverFile, `${JSON.stringify({ ...server, project })}\n`);
}

/** Another server may have been started for it since. */
export function forgetServer(project: string, pid: number): void {
  if (recordOf(project)?.pid === pid) rmSync(join(projectStatePath(project), serverFile), { force: true });
}

/** The server of a folder, or of the nearest folder above that has one; only while it runs. */
export function runningServer(folder: string): { readonly project: string; readonly server: ServerRecord } | undefined {
  for (let project = folder; ; project = dirname(project)) {
    const server = serverOf(project);
    if (server !== undefined) return { project, server };
    if (dirname(project) === project) return undefined;
  }
}

/** The server of this very folder, while it runs. */
export function serverOf(project: string): ServerRecord | undefined {
  const server = recordOf(project);
  return server !== undefined && isAlive(server.pid) ? server : undefined;
}

/** The server of any folder of this user that has a port of this machine. */
export function serverOn(port: number): ServerRecord | undefined {
  return projectStatePaths()
    .map(recordIn)
    .find((server) => server !== undefined && portIn(server.url) === port && isAlive(server.pid));
}

/** The same by its address, if that is one of this machine. */
export function serverAt(url: string): ServerRecord | undefined {
  const port = /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:|\/|$)/.test(url) ? portIn(url) : undefined;
  return port === undefined ? undefined : serverOn(port);
}

function portIn(url: string): number | undefined {
  return URL.canParse(url) ? Number(new URL(url).port || 80) : undefined;
}

export function projectFacts(project: string): ProjectFacts {
  const parsed = ProjectFacts.safeParse(parse(readIfThere(join(projectStatePath(project), projectFile))));
  return parsed.success ? parsed.data : { path: project, trusted: false, madeStore: false };
}

export function noteFacts(project: string, facts: Partial<ProjectFacts>): void {
  write(project, projectFile, `${JSON.stringify({ ...projectFacts(project), ...facts })}\n`);
}

function recordOf(project: string): ServerRecord | undefined {
  return recordIn(projectStatePath(project));
}

function recordIn(state: string): ServerRecord | undefined {
  const parsed = ServerRecord.safeParse(parse(readIfThere(join(state, serverFile))));
  return parsed.success ? parsed.data : undefined;
}

/** In one step, so that a reader beside us never sees half of it. */
function write(project: string, name: string, text: string): void {
  const path = join(makeProjectState(project), name);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // The first time for this project.
  }
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined; // Cut off by a full disk: as if it were not there.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return cause instanceof Error && 'code' in cause && cause.code === 'EPERM';
  }
}
