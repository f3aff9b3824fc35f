import { harmless, harmlessJson, harmlessLine } from '@concerto/base';
import {
  type AgentInfo,
  type AuditEntry,
  activeAtOf,
  type LiveSetting,
  liveSettings,
  type Message,
  type SentMessage,
  type Session,
  type SessionAgent,
  type SessionList,
  type SessionStatus,
  type Template,
  type Usage,
  type Waiting,
} from '@concerto/protocol';
import { paint, type Style } from '../terminal/paint.ts';
import { type Cell, facts, heading, table, terminalWidth } from '../terminal/table.ts';
import { cut } from '../terminal/wrap.ts';
import { auditDetail } from './audit-detail.ts';
import { budgetText } from './budget-words.ts';

/** What needs somebody is seen first. */
const styles: Readonly<Partial<Record<SessionStatus, Style>>> = {
  waitingForInput: 'yellow',
  waitingForApproval: 'yellow',
  running: 'cyan',
  starting: 'cyan',
  failed: 'red',
  interrupted: 'red',
  completed: 'green',
  cancelled: 'dim',
  idle: 'dim',
};

function statusCell(status: SessionStatus): Cell {
  const style = styles[status];
  return style === undefined ? status : { text: status, style };
}

/** Title, agent, status, and last the id: its beginning is enough to name it by. */
const sessionGivesWay = [4, 2, 1, 0];

/** A row each, and below it what it asks. */
export function sessionTable(sessions: readonly Session[], { questions = true } = {}): string {
  if (sessions.length === 0) return 'No sessions. Start one: concerto sessions start AGENT "PROMPT"';
  const depths = depthsOf(sessions);
  const rows = sessions.map((session): readonly Cell[] => [
    branchOf(depths.get(session.id) ?? 0) + session.id,
    statusCell(session.status),
    session.agent,
    age(session.createdAt),
    session.title,
  ]);
  const all = [heading('ID', 'STATUS', 'AGENT', 'AGE', 'TITLE'), ...rows];
  const [head = '', ...lines] = table(all, sessionGivesWay).split('\n');
  if (!questions) return [head, ...lines].join('\n');
  return [head, ...lines.flatMap((line, index) => [line, ...questionLine(sessions[index])])].join('\n');
}

/** In a tree each stands below the one that opened it. */
function depthsOf(sessions: readonly Session[]): ReadonlyMap<string, number> {
  const depths = new Map<string, number>();
  for (const { id, parent = '' } of sessions) {
    const above = depths.get(parent);
    depths.set(id, above === undefined ? 0 : above + 1);
  }
  return depths;
}

function branchOf(depth: number): string {
  return depth === 0 ? '' : `└${'─'.repeat(depth - 1)} `;
}

/** What a session has opened, below what it is itself. */
export function openedTable({ sessions, nextCursor }: SessionList): string {
  const rest = nextCursor === undefined ? [] : [`(the newest ${sessions.length} of them)`];
  return [paint('dim', 'sessions it opened'), sessionTable(sessions), ...rest].join('\n');
}

/** Where a message went that was sent to a program. */
export function sentTo({ session }: SentMessage): string {
  return session === undefined ? '' : ` in ${session}`;
}

function questionLine(session: Session | undefined): readonly string[] {
  const waiting = session?.waiting;
  if (waiting === undefined || (waiting.for !== 'input' && waiting.for !== 'approval')) return [];
  const sign = waiting.for === 'approval' ? '!' : '?';
  const isYours = waiting.asked === undefined || waiting.asked === 'person';
  const style = isYours ? 'yellow' : 'dim';
  const asked = isYours && waiting.expiresAt === undefined ? '' : `  (${askedText(waiting)})`;
  const room = Math.max(20, terminalWidth() - asked.length);
  return [paint(style, `${cut(`  ${sign} ${harmlessLine(waiting.detail)}`, room)}${asked}`)];
}

/** Who is asked, who comes after, and until when. */
function askedText({ asked = 'person', next = [], expiresAt }: Waiting): string {
  const until = expiresAt === undefined ? [] : [`until ${new Date(expiresAt).toTimeString().slice(0, 8)}`];
  const then = next.length === 0 ? [] : [`then ${next.join(', ')}`];
  return [`asked: ${asked}`, ...then, ...until].join(', ');
}

/** Each with the words that start it. */
export function offerTable(agents: readonly AgentInfo[], templates: readonly Template[]): string {
  const rows = [
    ...agents.map(({ kind, name, description = '' }) => [
      kind,
      kind === 'agent'
        ? `sessions start ${name} PROMPT`
        : `sessions start --${kind} ${name}${kind === 'program' ? '' : ' PROMPT'}`,
      description,
    ]),
    ...templates.map(({ name, agent, assistant, program, prompt = '' }) => [
      'template',
      `sessions start --template ${name}`,
      `${agent ?? assistant ?? program ?? ''} ${prompt}`,
    ]),
  ];
  return rows.length === 0
    ? 'Nothing can be started: the manifest names nothing.'
    : table([heading('KIND', 'COMMAND', 'WHAT'), ...rows]);
}

export function sessionDetail(session: Session): string {
  const { waiting, error, result } = session;
  const rows: readonly (readonly [string, Cell])[] = [
    ['id', session.id],
    ['title', session.title],
    [session.kind, session.agent],
    ...(session.version === undefined
      ? []
      : [[session.kind === 'program' ? 'code' : 'version', session.version] as const]),
    ...(session.parent === undefined ? [] : [['opened by', session.parent] as const]),
    ['status', statusCell(session.status)],
    ...(session.reason === undefined ? [] : [['because', session.reason] as const]),
    ...(session.supervisor === undefined ? [] : [['supervisor', session.supervisor] as const]),
    ...(session.forkOf === undefined
      ? []
      : [['fork of', `${session.forkOf.session} up to ${session.forkOf.at}`] as const]),
    ['turn', String(session.turn)],
    ['created', session.createdAt],
    ['last active', activeAtOf(session)],
    ['pending', String(session.pending)],
    ...settingsRows(session),
    ['tokens', tokensText(session.usage)],
    ['cost', costText(session.usage) ?? 'not told by the agent'],
    ...(session.budget === undefined ? [] : [['budget', budgetText(session.budget)] as const]),
  ];
  const texts = [
    // What is paused waits for a person to go on, which the text says.
    ...(waiting === undefined
      ? []
      : [[waiting.for === 'pause' ? 'waits' : `waits for ${waiting.for}`, waitingText(waiting)]]),
    ...(error === undefined
      ? []
      : [['error', error.message === session.reason ? error.code : `${error.code}: ${error.message}`]]),
    ...(result === undefined ? [] : [['result', resultText(result)]]),
  ];
  return [
    facts(rows),
    ...texts.map(([name = '', text = '']) => `${paint('dim', name)}\n${indented(harmless(text))}`),
  ].join('\n');
}

function waitingText(waiting: Waiting): string {
  return waiting.asked === undefined ? waiting.detail : `${waiting.detail}\n${askedText(waiting)}`;
}

function settingsRows({ settings }: Session): readonly (readonly [string, Cell])[] {
  const { workingDir, params, worktree } = settings ?? {};
  return [
    ...(workingDir === undefined ? [] : [['folder', harmless(workingDir)] as const]),
    ...(worktree === undefined ? [] : [['branch', `${worktree.branch} (${worktree.state})`] as const]),
    ...(params === undefined ? [] : [['set', harmlessJson(params)] as const]),
  ];
}

function indented(text: string): string {
  return text.trim().replaceAll(/^/gm, '  ');
}

/** Tokens and, where it is known, what they cost. */
export function usageText(usage: Usage): string {
  return [tokensText(usage), costText(usage)].filter((part) => part !== undefined).join(' · ');
}

function tokensText(usage: Usage): string {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  const cached = cacheReadTokens + cacheWriteTokens;
  return `${inputTokens} in, ${outputTokens} out${cached === 0 ? '' : `, ${cached} cached`}`;
}

/** Undefined where nobody said what it cost. */
function costText({ costMicroUsd }: Usage): string | undefined {
  if (costMicroUsd === undefined) return undefined;
  const usd = costMicroUsd / 1e6;
  return `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;
}

export function messageTable(messages: readonly Message[]): string {
  if (messages.length === 0) return 'Nothing waits.';
  const state = (message: Message): string => {
    if (message.uncertain === true) return 'uncertain';
    return message.inFlight === true ? 'in flight' : message.status;
  };
  const rows = messages.map((message) => [message.id, message.priority, state(message), message.content]);
  return table([heading('ID', 'LANE', 'STATUS', 'TEXT'), ...rows]);
}

/** Who did it and what it was are told by their beginnings where there is no room for all of it. */
const auditGivesWay = [6, 5, 3, 2, 1];
/** On less, whom it is about is left out, and of the direction there is the arrow alone. */
const auditWidth = 90;

export function auditTable(entries: readonly AuditEntry[]): string {
  const isNarrow = terminalWidth() < auditWidth;
  const rows = entries.map((entry): readonly Cell[] => {
    const about: Cell = { text: entry.messageId ?? entry.requestId ?? '', style: 'dim' };
    const arrow = entry.direction === 'in' ? '→' : '←';
    return [
      // On a terminal every column counts; the day and the thousandths are in what goes to a file.
      process.stdout.isTTY ? entry.at.slice(11, 19) : entry.at,
      isNarrow ? arrow : `${arrow} agent`,
      entry.what,
      auditDetail(entry.detail),
      entry.latencyMs === undefined ? '' : `${entry.latencyMs} ms`,
      entry.actor,
      ...(isNarrow ? [] : [about]),
    ];
  });
  const head = heading(
    'AT',
    isNarrow ? '' : 'DIRECTION',
    'WHAT',
    'DETAIL',
    'TOOK',
    'ACTOR',
    ...(isNarrow ? [] : ['ABOUT']),
  );
  return table([head, ...rows], auditGivesWay);
}

function resultText(result: unknown): string {
  const text: unknown = result !== null && typeof result === 'object' && 'text' in result ? result.text : undefined;
  return typeof text === 'string' ? text : JSON.stringify(result);
}

function age(at: string): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(at)) / 1000));
  if (seconds < 90) return `${seconds}s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)}m`;
  return seconds < 36 * 3600 ? `${Math.round(seconds / 3600)}h` : `${Math.round(seconds / 86_400)}d`;
}

/** What its agent offers, and what may be switched. */
export function agentTable(agent: SessionAgent): string {
  const { perSession, live } = agent;
  return [
    ...(agent.version === undefined ? [] : [`version ${agent.version}`]),
    ...(agent.login === undefined || agent.login === '' ? [] : [`not logged in: ${harmless(agent.login)}`]),
    ...liveSettings.map((name) => offeredText(agent, name)),
    commandsText(agent),
    perSession.length === 0
      ? 'a session may set nothing; `per_session` in the manifest says what'
      : `a session may set ${perSession.join(', ')}${live.length === 0 ? '' : `; while it runs ${live.join(', ')}`}`,
  ].join('\n');
}

export function offeredText(agent: SessionAgent, name: LiveSetting): string {
  const current = agent[name];
  const offered = agent[`${name}s`] ?? [];
  if (offered.length === 0) return `  ${name}: ${current ?? 'it offers none'}`;
  const lines = offered.map(
    ({ id, description }) =>
      `${id === current ? '* ' : '  '}${harmless(id)}${description === undefined ? '' : paint('dim', `  ${harmless(description)}`)}`,
  );
  return [`  ${name}:`, ...lines.map((line) => `    ${line}`)].join('\n');
}

export function commandsText({ commands = [] }: SessionAgent): string {
  if (commands.length === 0) return '  it announces no commands of its own';
  const lines = commands.map(({ name, description, hint }) => {
    const usage = `/${name}${hint === undefined ? '' : ` ${hint}`}`;
    return `    ${harmless(usage)}${description === undefined ? '' : paint('dim', `  ${harmless(description)}`)}`;
  });
  return ['  commands:', ...lines].join('\n');
}
