import { harmlessDeep, harmlessLine } from '@concerto/base';
import { activeAtOf, type OverviewEvent, type Session, type SuspendEvent } from '@concerto/protocol';
import { amount } from '../terminal/amount.ts';
import { paint } from '../terminal/paint.ts';
import { cut, wrapped } from '../terminal/wrap.ts';
import { questionText } from './narration.ts';
import { sessionTable } from './show.ts';

export type Waiting = {
  /** Its own for as long as we watch: an answer must not go to whatever has taken its place meanwhile. */
  readonly number: number;
  readonly session: string;
  readonly request: SuspendEvent;
};

/** Rows of a question; the rest of a long diff is in `attach`. */
const questionRowsMax = 12;

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
    const head = [`${this.#waiting.size} wait for you`, `${running} at work`, amount(sessions.length, 'session')].join(
      ' · ',
    );
    const asked = [...this.#waiting.values()].flatMap((waiting) => [...this.#question(waiting, size.columns), '']);
    const listed = sessionTable(sessions.toSorted(byNeed), { questions: false }).split('\n');
    const all = [paint('bold', head), '', ...asked, ...listed].map((row) => cut(row, size.columns));
    return all.length <= size.rows
      ? all
      : [...all.slice(0, size.rows - 1), paint('dim', `… ${all.length - size.rows + 1} more rows`)];
  }

  #question({ number, session, request }: Waiting, columns: number): readonly string[] {
    const { title = '', agent = '' } = this.#sessions.get(session) ?? {};
    const head = `${paint('yellow', String(number))}  ${harmlessLine(title)} ${paint('dim', `${harmlessLine(agent)} ${session}`)}`;
    const margin = { first: '   ', others: '   ' };
    // In one colour from the first row to the last, whatever the screen breaks it into.
    const lines = textOfQuestion(request)
      .split('\n')
      .flatMap((line) => wrapped(line, columns, margin));
    const more =
      lines.length > questionRowsMax ? [`   … ${lines.length - questionRowsMax} more lines: /attach ${number}`] : [];
    return [head, ...lines.slice(0, questionRowsMax), ...more];
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
