import type { Risk } from '@concerto/protocol';
import { placeOf } from './path-pattern.ts';
import type { RuleRequest } from './rule-request.ts';
import type { CommandPart } from './shell-command.ts';

const order: Readonly<Record<Risk, number>> = { low: 0, medium: 1, high: 2 };

function higher(a: Risk, b: Risk): Risk {
  return order[a] >= order[b] ? a : b;
}

function highest(...risks: readonly Risk[]): Risk {
  return risks.reduce(higher, 'low');
}

/** The higher of what the agent says and what the request itself shows: an agent's word never lowers it. */
export function riskOf(request: RuleRequest): Risk {
  const shown = shownRisk(request);
  if (shown === undefined) return request.claimed ?? 'high';
  return higher(shown, request.claimed ?? 'low');
}

/** As `riskOf`; undefined where the agent's word is all there is. */
export function riskToShow(request: RuleRequest): Risk | undefined {
  return request.ask !== 'approval' || shownRisk(request) === undefined ? undefined : riskOf(request);
}

/** Undefined when there is nothing to judge by. */
function shownRisk(request: RuleRequest): Risk | undefined {
  const { tool, kind, server, command, paths, hosts = [] } = request;
  if (request.ask !== 'approval') return 'low';
  const reached = highest(...hosts.map(hostRisk));
  if (command !== undefined) {
    // What a command does is in its words, unless it is said to do more than run.
    const said = kind === 'fetch' || kind === 'delete' ? kindRisks[kind] : 'low';
    return highest(said, reached, commandRisk(request), touchRisk(request, 'low'));
  }
  const known = kindOf(kind, tool);
  const isBlank = known === undefined && tool === undefined && server === undefined;
  if (isBlank && paths.length === 0 && hosts.length === 0) return undefined;
  const base = known === undefined ? 'high' : kindRisks[known];
  // Nobody but its maker knows what a server's tool does; that it only reads is its own word.
  return highest(base, reached, touchRisk(request, base), server === undefined ? 'low' : 'medium');
}

/** What stands behind the user's own walls answers anybody who asks from inside. */
const inside =
  /^(localhost|127\..*|10\..*|192\.168\..*|169\.254\..*|172\.(1[6-9]|2\d|3[01])\..*|0\..*|\[.*\]|[^.]+|.*\.(local|internal|localhost|lan|home|corp))\.?$/i;

function hostRisk(host: string): Risk {
  return inside.test(host) ? 'high' : 'medium';
}

const kindRisks = {
  read: 'low',
  search: 'low',
  think: 'low',
  edit: 'medium',
  move: 'medium',
  fetch: 'medium',
  switch_mode: 'medium',
  delete: 'high',
  execute: 'high',
  other: 'high',
} as const satisfies Record<string, Risk>;

type Kind = keyof typeof kindRisks;

/** Of tools that are named without their kind. */
const toolKinds: ReadonlyMap<string, Kind> = new Map([
  ['Read', 'read'],
  ['Glob', 'search'],
  ['Grep', 'search'],
  ['LS', 'search'],
  ['TodoWrite', 'think'],
  ['WebSearch', 'fetch'],
  ['WebFetch', 'fetch'],
  ['Edit', 'edit'],
  ['MultiEdit', 'edit'],
  ['Write', 'edit'],
  ['NotebookEdit', 'edit'],
  ['ExitPlanMode', 'switch_mode'],
  ['Bash', 'execute'],
]);

function isKind(word: string): word is Kind {
  return Object.hasOwn(kindRisks, word);
}

/** A name decides only where no kind was said, and never makes less of one that was. */
function kindOf(kind: string | undefined, tool: string | undefined): Kind | undefined {
  const said = kind !== undefined && isKind(kind) ? kind : undefined;
  const named = tool === undefined ? undefined : toolKinds.get(tool);
  if (said === undefined || named === undefined) return kind === undefined ? named : (said ?? 'other');
  return order[kindRisks[said]] >= order[kindRisks[named]] ? said : named;
}

/** Files that hold secrets, or that others run. */
const secret =
  /(^|\/)(\.env(\..*)?|\.npmrc|\.netrc|\.pgpass|id_[a-z0-9]+|.*\.(pem|key|p12|pfx|keystore)|credentials(\.json)?|\.ssh|\.aws|\.gnupg|\.kube)(\/|$)/i;
const runs =
  /(^|\/)(\.git|\.github\/workflows|\.husky|\.vscode|\.claude|\.bashrc|\.zshrc|\.profile|\.bash_profile|crontab)(\/|$)/i;

function touchRisk({ paths, resolved, folder }: RuleRequest, base: Risk): Risk {
  let risk: Risk = 'low';
  for (const path of [...paths, ...(resolved ?? [])]) {
    const place = placeOf(path, folder);
    if (place === undefined) return 'high';
    const name = place.names.join('/');
    if (secret.test(name) || (base !== 'low' && runs.test(name))) return 'high';
    // Of a path that is absolute nobody knows whether it is inside unless the folder is known.
    if (!place.isInside && (folder !== undefined || base !== 'low'))
      risk = higher(risk, base === 'low' ? 'medium' : 'high');
  }
  return risk;
}

/** Programs that only look. */
const looks = new Set(
  'ls pwd cat head tail wc echo printf grep rg find fd which file stat du df date uname whoami id tree diff cmp sort uniq cut tr basename dirname realpath true test'.split(
    ' ',
  ),
);

/** The options with which one of them does more. */
const acts: ReadonlyMap<string, RegExp> = new Map([
  ['rg', /^--pre/],
  ['find', /^-(exec|execdir|ok|okdir|delete|fprint.*|fls)$/],
  ['fd', /^(-x|-X|--exec.*)$/],
  ['date', /^(-s|--set.*)$/],
  ['tree', /^-o$/],
  ['sort', /^(-o.*|--output.*|--compress-program.*)$/],
]);

const gitLooks = new Set(
  'status log diff show blame shortlog describe rev-parse ls-files ls-tree grep cat-file'.split(' '),
);
/** Options with which git writes a file or runs a program. */
const gitActs = /^(-c|--output.*|-o|--ext-diff|--textconv|--open-files-in-pager.*|-O.*|--exec-path.*|--upload-pack.*)$/;

/** Programs of the project itself: what they do is its own code. */
const builds = new Set(
  'npm npx pnpm yarn node tsc vitest jest eslint biome make cargo go pytest python python3 ruff mvn gradle dotnet bundle rake'.split(
    ' ',
  ),
);
const installs = /^(install|i|add|ci|publish|exec|dlx|create|x|-e|--eval|-c|-p|--print|login|link|update|upgrade|get)$/;
const gitWrites = new Set('add commit checkout switch restore stash branch tag merge mv'.split(' '));

function commandRisk({ command, folder }: RuleRequest): Risk {
  if (command === undefined || command.line.unclear !== undefined || command.line.parts.length === 0) return 'high';
  return command.line.parts.map((part) => partRisk(part, folder)).reduce(higher, 'low');
}

function partRisk({ words, writes }: CommandPart, folder: string | undefined): Risk {
  const [program = '', ...rest] = words;
  if (program.includes('/') || writes) return 'high';
  const outside = rest.some((word) => leads(word, folder));
  if (program === 'git') return gitRisk(rest, outside);
  if (looks.has(program)) {
    const act = acts.get(program);
    const isAct = act !== undefined && rest.some((word) => act.test(word));
    return isAct || outside ? 'high' : 'low';
  }
  if (!builds.has(program)) return 'high';
  return outside || rest.some((word) => installs.test(word)) ? 'high' : 'medium';
}

function gitRisk(words: readonly string[], outside: boolean): Risk {
  const [verb = ''] = words;
  if (outside || words.some((word) => gitActs.test(word))) return 'high';
  if (gitLooks.has(verb)) return 'low';
  const forced = words.some((word) => /^(-f|--force.*|-D|--hard|-B)$/.test(word));
  return gitWrites.has(verb) && !forced ? 'medium' : 'high';
}

/** Whether a word may be a path out of the folder, or to a secret. */
function leads(word: string, folder: string | undefined): boolean {
  const value = word.startsWith('-') && word.includes('=') ? word.slice(word.indexOf('=') + 1) : word;
  if (secret.test(value) || /[$~]/.test(value)) return true;
  if (!value.includes('/') && value !== '..') return false;
  const place = placeOf(value, folder);
  return place === undefined || !place.isInside;
}
