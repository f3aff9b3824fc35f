import { harmlessDeep, harmlessLine } from '@concerto/base';
import { activeAtOf, type OverviewEvent, type Session, type SuspendEvent } from '@concerto/protocol';
import { amount } from '../terminal/amount.ts';
import { paint } from '../terminal/paint.ts';
import { columnsOf, cut, wrappedLine } from '../terminal/wrap.ts';
import { questionText } from './narration.ts';
import { sessionTable } from './show.ts';

export type Waiting = {
  /** Its own for as long as we watch: an answer must not go to whatever has taken its place meanwhile. */
  readonly number: number;
  readonly session: string;
  readonly request: SuspendEvent;
};

/** Rows of a question, fewer where many wait: all of them are to be seen. The rest of a long diff is in `attach`. */
const questionRows = [12, 6, 3, 1, 0];

/** Of all, and of the list below, of which some is to be seen. */
const headRows = 6;

const atWork: ReadonlySet<string> = new Set([
  'starting',
  'running',
  'interrupting',
  'pausing',
  'resuming',
  'cancelling',
]);
const over: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** All sessions as a person wants to see them: what waits for them first, with numbers to answer by. */
export class WatchBoard {
  readonly #sessions = new Map<string, Session>();
  readonly #waiting = new Map<string, Waiting>();
  #numbers = 0;

  /** The session whose question is not known yet: it was asked before we looked. */
  take(event: OverviewEvent): string | undefined {
    switch (event.type) {
      case 'session': {
        const { summary } = event;
        this.#sessions.set(summary.id, summary);
        const { waiting } = summary;
        const isYours = waiting?.asked === undefined || waiting.asked === 'person';
        const asks = isYours && (waiting?.for === 'input' || waiting?.for === 'approval');
        if (!asks) this.#forget(summary.id);
        return asks && ![...this.#waiting.values()].some(({ session }) => session === summary.id)
          ? summary.id
          : undefined;
      }
      case 'request':
        this.asked(event.session, [event.request]);
        return undefined;
      case 'requestSettled':
        this.#waiting.delete(event.requestId);
        return undefined;
      case 'sessionDeleted':
        this.#sessions.delete(event.session);
        this.#forget(event.session);
        return undefined;
      case 'graph':
        return undefined;
    }
  }

  asked(session: string, requests: readonly SuspendEvent[]): void {
    for (const request of requests) {
      if (this.#waiting.has(request.requestId)) continue;
      this.#numbers += 1;
      this.#waiting.set(request.requestId, { number: this.#numbers, session, request });
    }
  }

  /** By the number that stands before it. */
  numbered(number: number): Waiting | undefined {
    return [...this.#waiting.values()].find((waiting) => waiting.number === number);
  }

  /** Those that are called so, or begin so; `s_` may be left out, as elsewhere. */
  idsMeant(given: string): readonly string[] {
    if (this.#sessions.has(given)) return [given];
    return [...this.#sessions.keys()].filter((id) => id.startsWith(given) || id.startsWith(`s_${given}`));
  }

  /** As many rows as there are, none of them wider than the screen; what needs somebody first. */
  rows(size: { readonly rows: number; readonly columns: number }): readonly string[] {
    const sessions = [...this.#sessions.values()];
    const running = sessions.filter(({ status }) => atWork.has(status)).length;
    const head = [
      `${this.#waiting.size} ${this.#waiting.size === 1 ? 'waits' : 'wait'} for you`,
      `${running} at work`,
      amount(sessions.length, 'session'),
    ].join(' · ');
    const asked = this.#asked(size);
    const listed = sessionTable(sessions.toSorted(byNeed), { questions: false }).split('\n');
    const all = [paint('bold', head), '', ...asked, ...listed].map((row) => cut(row, size.columns));
    return all.length <= size.rows
      ? all
      : [...all.slice(0, size.rows - 1), paint('dim', `… ${all.length - size.rows + 1} more rows`)];
  }

  /** Who has waited longest first; each with as many rows as all of them can have. */
  #asked({ rows, columns }: { readonly rows: number; readonly columns: number }): readonly string[] {
    const since = ({ session }: Waiting): string => this.#sessions.get(session)?.waiting?.since ?? '';
    const waiting = [...this.#waiting.values()].toSorted(
      (a, b) => since(a).localeCompare(since(b)) || a.number - b.number,
    );
    const shown = questionRows.map((most) => waiting.flatMap((one) => this.#question(one, columns, most)));
    return shown.find((all) => all.length + headRows <= rows) ?? shown.at(-1) ?? [];
  }

  #question({ number, session, request }: Waiting, columns: number, most: number): readonly string[] {
    const { title = '', agent = '' } = this.#sessions.get(session) ?? {};
    const where = `${harmlessLine(title)} ${paint('dim', `${harmlessLine(agent)} ${session}`)}`;
    const head = `${paint('yellow', String(number))}  `;
    const text = textOfQuestion(request).split('\n');
    if (most === 0) return [`${head}${oneLine(text, columns - columnsOf(head))}`];
    if (most === 1) return [head + where, `   ${oneLine(text, columns - 3)}`];
    // In one colour from the first row to the last, whatever the screen breaks it into.
    const lines = text.flatMap((line) => wrappedLine(line, columns, '   '));
    const left = lines.length - most;
    // A row that says that one is left out is no shorter than that one.
    if (left <= 1) return [head + where, ...lines, ''];
    return [head + where, ...lines.slice(0, most), `   … ${left} more lines: /attach ${number}`, ''];
  }

  #forget(session: string): void {
    for (const [id, waiting] of this.#waiting) if (waiting.session === session) this.#waiting.delete(id);
  }
}

/** Those that are over last; within each, the newest first. */
function byNeed(a: Session, b: Session): number {
  const rank = ({ status }: Session): number => (over.has(status) ? 2 : Number(status === 'idle'));
  return rank(a) - rank(b) || activeAtOf(b).localeCompare(activeAtOf(a));
}

/** What is asked, with its command; how much more there is to it is told too. */
function oneLine([first = '', second = '', ...rest]: readonly string[], columns: number): string {
  const isCommand = second.trim().startsWith('$');
  const more = rest.length + (isCommand || second === '' ? 0 : 1);
  const left = more === 0 ? '' : paint('dim', ` … ${more} more`);
  return cut(isCommand ? `${first} ${second.trim()}` : first, columns - columnsOf(left)) + left;
}

function textOfQuestion(request: SuspendEvent): string {
  const shown = harmlessDeep(request);
  if (shown.type === 'waitForInput' || shown.type === 'waitForChoice' || shown.type === 'queryConsent')
    return questionText(shown);
  return `? ${shown.type}`;
}

/** For a pipe or a file: what happened, on one line. */
export function watchLine(event: OverviewEvent): string {
  switch (event.type) {
    case 'session': {
      const { id, status, agent, title } = event.summary;
      return harmlessLine(`${id} ${status} ${agent}: ${title}`);
    }
    case 'request':
      return `${event.session} ${harmlessLine(textOfQuestion(event.request))}`;
    case 'sessionDeleted':
      return `${event.session} deleted`;
    case 'graph':
      return `the graph was changed, version ${event.version}`;
    case 'requestSettled':
      return `${event.session} → ${event.outcome}${event.by === undefined ? '' : ` by ${harmlessLine(event.by)}`}`;
  }
}
