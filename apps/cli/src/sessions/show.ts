import type { AgentInfo, AuditEntry, Message, Session, Template } from '@concerto/protocol';
import { auditDetail } from './audit-detail.ts';

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** Columns as wide as their widest cell; the last one takes what is left of the terminal. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const room = process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => (line.length > room ? `${line.slice(0, room - 1)}…` : line))
    .join('\n');
}

export function sessionTable(sessions: readonly Session[]): string {
  if (sessions.length === 0) return 'No sessions. Start one: concerto sessions start AGENT "PROMPT"';
  const rows = sessions.map((session) => [
    session.id,
    session.status,
    session.agent,
    age(session.createdAt),
    session.title,
  ]);
  return table([['ID', 'STATUS', 'AGENT', 'AGE', 'TITLE'], ...rows]);
}

/** Each with the words that start it. */
export function offerTable(agents: readonly AgentInfo[], templates: readonly Template[]): string {
  const rows = [
    ...agents.map(({ kind, name, description = '' }) => [
      kind,
      kind === 'agent'
        ? `sessions start ${name} PROMPT`
        : `sessions start --${kind} ${name}${kind === 'program' ? '' : ' PROMPT'}`,
      oneLine(description),
    ]),
    ...templates.map(({ name, agent, assistant, program, prompt = '' }) => [
      'template',
      `sessions start --template ${name}`,
      oneLine(`${agent ?? assistant ?? program ?? ''} ${prompt}`),
    ]),
  ];
  return rows.length === 0
    ? 'Nothing can be started: the manifest names nothing.'
    : table([['KIND', 'COMMAND', 'WHAT'], ...rows]);
}

export function sessionDetail(session: Session): string {
  const lines = [
    ['id', session.id],
    ['title', session.title],
    [session.kind, session.agent],
    ['status', session.reason === undefined ? session.status : `${session.status} (${session.reason})`],
    ['turn', String(session.turn)],
    ['created', session.createdAt],
    ['updated', session.updatedAt],
    ['pending', String(session.pending)],
    ...(session.waiting === undefined ? [] : [['waits for', `${session.waiting.for}: ${session.waiting.detail}`]]),
    ...(session.error === undefined ? [] : [['error', `${session.error.code}: ${session.error.message}`]]),
    ...(session.result === undefined ? [] : [['result', resultText(session.result)]]),
  ];
  return table(lines);
}

export function messageTable(messages: readonly Message[]): string {
  if (messages.length === 0) return 'Nothing waits.';
  const state = (message: Message): string => {
    if (message.uncertain === true) return 'uncertain';
    return message.inFlight === true ? 'in flight' : message.status;
  };
  const rows = messages.map((message) => [message.id, message.priority, state(message), oneLine(message.content)]);
  return table([['ID', 'LANE', 'STATUS', 'TEXT'], ...rows]);
}

export function auditTable(entries: readonly AuditEntry[]): string {
  const rows = entries.map((entry) => [
    entry.at,
    entry.direction === 'in' ? '→ agent' : '← agent',
    entry.what,
    auditDetail(entry.detail),
    entry.latencyMs === undefined ? '' : `${entry.latencyMs} ms`,
    entry.actor,
    entry.messageId ?? entry.requestId ?? '',
  ]);
  return table([['AT', 'DIRECTION', 'WHAT', 'DETAIL', 'TOOK', 'ACTOR', 'ABOUT'], ...rows]);
}

function resultText(result: unknown): string {
  const text: unknown = result !== null && typeof result === 'object' && 'text' in result ? result.text : undefined;
  return typeof text === 'string' ? text : JSON.stringify(result);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

function age(at: string): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(at)) / 1000));
  if (seconds < 90) return `${seconds}s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)}m`;
  return seconds < 36 * 3600 ? `${Math.round(seconds / 3600)}h` : `${Math.round(seconds / 86_400)}d`;
}
