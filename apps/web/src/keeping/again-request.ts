import type { JsonObject } from '@concerto/base';
import type { StartRequest } from '@concerto/client';
import { type LlmContent, type Session, type SessionSettings, textOf } from '@concerto/protocol';

/**
 * The start of the same task with the same settings; undefined when nothing says what the task was. `may`: what a session
 * of it may set for itself.
 */
export function againRequest(
  session: Session,
  objective: LlmContent | undefined,
  may: readonly string[],
): StartRequest | undefined {
  const { kind, agent, title, once, settings, budget, supervisor } = session;
  const prompt = promptOf(objective);
  if (prompt === undefined && kind !== 'program') return undefined;
  const workingDir = may.includes('working_dir') ? folderOf(settings) : undefined;
  const params = paramsOf(session);
  return {
    [kind]: agent,
    title,
    ...(prompt === undefined || kind === 'program' ? {} : { prompt }),
    ...(once === true ? { once } : {}),
    ...(workingDir === undefined ? {} : { workingDir }),
    ...(params === undefined ? {} : { params }),
    ...(budget === undefined ? {} : { budget: budget.limits }),
    ...(supervisor === undefined ? {} : { supervisor }),
  };
}

/** Of a checkout of its own, the same folder in the repository. */
function folderOf({ workingDir, worktree }: SessionSettings = {}): string | undefined {
  if (worktree === undefined || workingDir === undefined) return workingDir;
  return workingDir.startsWith(worktree.path)
    ? `${worktree.repository}${workingDir.slice(worktree.path.length)}`
    : undefined;
}

/** A checkout of its own is made anew: the old one is the old session's. */
function paramsOf({ settings }: Session): JsonObject | undefined {
  const { worktree, ...params } = settings?.params ?? {};
  const asked = worktree === undefined || worktree === false ? {} : { worktree: true };
  const again = { ...params, ...(worktree === false ? { worktree } : asked) };
  return Object.keys(again).length === 0 ? undefined : again;
}

function promptOf(objective: LlmContent | undefined): string | LlmContent | undefined {
  if (objective === undefined || objective.parts.length === 0) return undefined;
  if (objective.parts.some((part) => !('text' in part))) return objective;
  const text = textOf(objective).trim();
  return text === '' ? undefined : text;
}
