import { isAbsolute, join, resolve, sep } from 'node:path';
import type { AgentSpec } from '@concerto/agents';
import type { JsonObject } from '@concerto/base';
import { approvalRequest, type RuleRequest, riskToShow } from '@concerto/rules';
import type { Suspend } from '../worker.ts';
import { whereItLeads } from './where-it-leads.ts';

/** What of an output may ask for something. */
type Word = {
  readonly kind: string;
  readonly raw?: JsonObject & { readonly type: string };
  readonly message?: object;
  readonly event?: Suspend;
};

/** Who asks, and what its paths are relative to. */
type Place = { readonly agent: string; readonly folder: string | undefined };

/**
 * Requests say how risky they are, read from the request itself, before anybody sees them: rules, cards and programs read
 * the same word. The agent's own word counts where it is the higher.
 */
export function weighed<Output extends Word>(
  batch: readonly Output[],
  place: Place,
): readonly Output[] | Promise<readonly Output[]> {
  return batch.some(isApproval) ? Promise.all(batch.map((word) => weigh(word, place))) : batch;
}

/** Where the agent works: what its paths are relative to. */
export function folderOf({ workingDir, protocol, params }: AgentSpec): string | undefined {
  const own = protocol === 'claude' || protocol === 'codex' ? params?.work_dir : undefined;
  return typeof own === 'string' ? resolve(workingDir ?? '.', own) : workingDir;
}

/**
 * Where each path leads; what is inside the folder stays so, where the folder itself is behind a link too. A `..` after
 * a link leads elsewhere for whoever follows the link first than for whoever shortens the path first: both are told.
 */
export async function resolvedPaths(folder: string | undefined, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const base = resolve(folder ?? '.');
  const real = await whereItLeads(base);
  const seen = async (path: string): Promise<string> => {
    const target = await whereItLeads(path);
    return target === real || target.startsWith(`${real}${sep}`) ? join(base, target.slice(real.length)) : target;
  };
  const each = paths.map(async (path) => {
    const short = resolve(base, path);
    const long = isAbsolute(path) ? path : `${base}/${path}`;
    const [one, other] = await Promise.all([seen(short), path.includes('..') ? seen(long) : undefined]);
    return other === undefined || other === one ? [one] : [one, other];
  });
  return (await Promise.all(each)).flat();
}

function isApproval({ raw, event }: Word): boolean {
  return raw?.type === 'approval' || event?.type === 'queryConsent';
}

async function weigh<Output extends Word>(word: Output, place: Place): Promise<Output> {
  const { raw, event, message } = word;
  if (raw?.type === 'approval') {
    const risk = await riskIn(raw, place);
    return {
      ...word,
      raw: { ...raw, ...risk },
      ...(message === undefined ? {} : { message: { ...message, ...risk } }),
    };
  }
  if (event?.type !== 'queryConsent' || event.consentType === 'budget') return word;
  return { ...word, event: { ...event, scope: { ...event.scope, ...(await riskIn(event.scope, place)) } } };
}

/** Nothing where the agent's word is all there is, or says as much. */
async function riskIn(fields: JsonObject, place: Place): Promise<{ readonly risk_level?: string }> {
  const request: RuleRequest = approvalRequest(fields, place);
  // Without a folder nobody knows where a relative path leads.
  const resolved = place.folder === undefined ? undefined : await resolvedPaths(place.folder, request.paths);
  const risk = riskToShow({ ...request, resolved });
  return risk === undefined || risk === request.claimed ? {} : { risk_level: risk };
}
