import type { Risk, Rule } from '@concerto/protocol';
import { type Glob, globMatches, globOf } from './glob.ts';
import { isPlain, skeleton } from './look-alike.ts';
import { type PathPattern, pathMatches, pathPatternOf } from './path-pattern.ts';
import type { RequestReading } from './request-reading.ts';
import type { RuleRequest } from './rule-request.ts';

/** A rule made ready: every pattern is read once. */
export type ReadyRule = {
  readonly id: string;
  readonly decide: string;
  readonly reason: string | undefined;
  /** It lets something happen: then what it names must be the very thing, and nothing may be unclear. */
  readonly permits: boolean;
  readonly names: Partial<Record<Named, readonly Glob[]>>;
  readonly kind: readonly string[] | undefined;
  readonly risk: readonly Risk[] | undefined;
  readonly command: readonly Glob[] | undefined;
  readonly path: readonly PathPattern[] | undefined;
} & Uncompared;

const named = ['tool', 'server', 'agent', 'template', 'text'] as const;
type Named = (typeof named)[number];

/** A key of rules that nothing here compares would let more happen than the rule says: it does not compile. */
type Uncompared = {
  readonly [Key in Exclude<keyof Rule, Named | 'kind' | 'risk' | 'command' | 'path' | 'decide' | 'reason'>]: never;
};

function list<T extends string>(value: T | readonly T[] | undefined): readonly T[] | undefined {
  return typeof value === 'string' ? [value] : value;
}

/** What lets something happen, or leaves it to a model that may. */
export function mayPermit(decide: string): boolean {
  return decide === 'allow' || decide.startsWith('answer:') || decide.startsWith('model:');
}

export function readyRule(id: string, rule: Rule): ReadyRule {
  const permits = mayPermit(rule.decide);
  // What forbids is compared as a reader would take it.
  const globs = (patterns: string | readonly string[] | undefined): readonly Glob[] | undefined =>
    list(patterns)?.map((pattern) => globOf(permits ? pattern : skeleton(pattern)));
  const names: Partial<Record<Named, readonly Glob[]>> = {};
  for (const name of named) {
    const ready = globs(rule[name]);
    if (ready !== undefined) names[name] = ready;
  }
  return {
    id,
    decide: rule.decide,
    reason: rule.reason,
    permits,
    names,
    kind: list(rule.kind),
    risk: list(rule.risk),
    command: globs(rule.command),
    path: list(rule.path)?.map((pattern) => pathPatternOf(permits ? pattern : skeleton(pattern))),
  };
}

/** What does not depend on the request's own words: rules are looked through once for each tool and agent. */
export function mayConcern(rule: ReadyRule, request: RuleRequest): boolean {
  const { tool, server, agent, template } = request;
  if (rule.kind?.includes('budget') !== (request.ask === 'budget') && request.ask === 'budget') return false;
  if (request.ask === 'question' && (isVerdict(rule.decide) || isAboutDoing(rule))) return false;
  // A server may call its tool what it likes: a name alone permits only what is the agent's own.
  const foreign =
    server !== undefined && rule.permits && rule.names.tool !== undefined && rule.names.server === undefined;
  if (foreign) return false;
  return (
    fits(rule, 'tool', tool) &&
    fits(rule, 'server', server) &&
    fits(rule, 'agent', agent) &&
    fits(rule, 'template', template)
  );
}

/** A yes or a no, which a question does not ask for. */
function isVerdict(decide: string): boolean {
  return decide === 'allow' || decide === 'deny' || decide.startsWith('model:');
}

function isAboutDoing({ names, kind, command, path }: ReadyRule): boolean {
  return (
    names.tool !== undefined || names.server !== undefined || [kind, command, path].some((key) => key !== undefined)
  );
}

function fits({ names, permits }: ReadyRule, name: Named, value: string | undefined): boolean {
  const globs = names[name];
  if (globs === undefined) return true;
  if (value === undefined || (permits && !isPlain(value))) return false;
  const compared = permits ? value : skeleton(value);
  return globs.some((glob) => globMatches(glob, compared));
}

/** Whether it decides about the request, given that it may concern it. */
export function matches(rule: ReadyRule, reading: RequestReading): boolean {
  const { request } = reading;
  if (rule.kind !== undefined && (request.kind === undefined || !rule.kind.includes(request.kind))) return false;
  if (rule.risk !== undefined && !rule.risk.includes(reading.risk)) return false;
  if (!fits(rule, 'text', request.text)) return false;
  if (rule.path !== undefined && !pathFits(rule.path, rule.permits, reading)) return false;
  return commandFits(rule, reading);
}

function commandFits({ command: globs, permits }: ReadyRule, reading: RequestReading): boolean {
  const { command } = reading.request;
  if (command === undefined) return globs === undefined;
  const { text, line } = command;
  if (!permits) return globs === undefined || forbids(globs, reading.forbidden);
  // Somebody has seen this very text and said yes to it.
  if (globs?.some((glob) => glob.isExact && globMatches(glob, text)) === true) return true;
  if (line.unclear !== undefined || line.parts.length === 0) return false;
  if (globs === undefined) return true;
  const { permitted } = reading;
  return permitted !== 'never' && permitted.every((texts) => anyFits(globs, texts));
}

function anyFits(globs: readonly Glob[], texts: readonly string[]): boolean {
  return globs.some((glob) => texts.some((text) => globMatches(glob, text)));
}

function forbids(globs: readonly Glob[], texts: readonly string[] | 'too-many'): boolean {
  return texts === 'too-many' || anyFits(globs, texts);
}

/** What permits must hold for every path, as it is written and as it leads; what forbids for any. */
function pathFits(patterns: readonly PathPattern[], permits: boolean, reading: RequestReading): boolean {
  const { folder } = reading.request;
  if (!permits) {
    const seen = folder?.toLowerCase();
    return reading.seenPlaces.some((place) => patterns.some((pattern) => pathMatches(pattern, place, seen)));
  }
  const { truePlaces } = reading;
  if (truePlaces === 'never') return false;
  return truePlaces.every((place) => patterns.some((pattern) => pathMatches(pattern, place, folder)));
}
