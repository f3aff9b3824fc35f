import { harmlessDeep, type Json } from '@concerto/base';
import type { FollowedEvent } from '@concerto/client';
import { type SuspendEvent, textOf } from '@concerto/protocol';
import { paint } from '../terminal/paint.ts';
import { fieldsOf } from './audit-detail.ts';

export type Paper = {
  /** Whole lines. */
  readonly print: (text: string) => void;
  /** A piece of a line. */
  readonly write: (piece: string) => void;
};

/**
 * Tells a session to a person: the pieces of an answer as the one text they are, and an answer that came in pieces not
 * a second time as the result.
 */
export class Narration {
  readonly #paper: Paper;
  #said = '';
  #isMidLine = false;
  /** The agent's own work, which a turn begins with; the other calls are its tools. */
  #turnCall: string | undefined;
  #isOver = false;
  /** Why the turn failed: a session that ends with it says the same again. */
  #failure: string | undefined;

  constructor(paper: Paper) {
    this.#paper = paper;
  }

  tell(told: FollowedEvent): void {
    const event = harmlessDeep(told);
    if (event.type === 'content')
      return this.#tellContent(textOf(event.content) || JSON.stringify(event.content.parts));
    if (event.type === 'start') {
      this.#said = '';
      this.#turnCall = undefined;
      this.#isOver = false;
      this.#failure = undefined;
    }
    if (event.type === 'subagentError') this.#failure = event.error.$error;
    if (event.type === 'error' && event.message === this.#failure) return;
    if (event.type === 'functionCall' && this.#turnCall === undefined) {
      this.#turnCall = event.callId;
      return;
    }
    if (event.type === 'functionResult' && event.callId === this.#turnCall) this.#isOver = true;
    const text = describe(event);
    if (text === undefined) return;
    this.#endLine();
    this.#paper.print(text);
  }

  #tellContent(text: string): void {
    if (!this.#isOver) {
      this.#said += text;
      this.#isMidLine = !text.endsWith('\n');
      return this.#paper.write(text);
    }
    this.#endLine();
    if (!normal(this.#said).endsWith(normal(text))) this.#paper.print(text);
  }

  #endLine(): void {
    if (this.#isMidLine) this.#paper.write('\n');
    this.#isMidLine = false;
  }
}

function normal(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** The line for a person, or nothing for bookkeeping that nobody follows; `--json` shows it. */
function describe(event: FollowedEvent): string | undefined {
  switch (event.type) {
    case 'start':
      return `${paint('dim', '▶')} ${textOf(event.objective)}`;
    case 'functionCall':
      return paint('dim', `  ${event.name} ${JSON.stringify(event.args)}`);
    case 'thought':
      return paint('dim', `  ${event.text.trim()}`);
    case 'functionCallUpdate':
      return event.status === null ? undefined : paint('dim', `  ${event.status}`);
    case 'subagentAddJson':
      return event.title === 'progress' ? undefined : paint('dim', `  ${noteText(event.title, event.data)}`);
    case 'subagentError':
      return paint('red', `  ${event.error.$error}`);
    case 'waitForInput':
      return paint('yellow', `? ${textOf(event.prompt)}`);
    case 'waitForChoice': {
      const choices = event.choices.map((choice, index) => `    ${index + 1}. ${textOf(choice.content)}`);
      return [paint('yellow', `? ${textOf(event.prompt)}`), ...choices].join('\n');
    }
    case 'queryConsent':
      return [
        paint('yellow', `! ${consentText(event)}${risk(event.scope.risk_level)}`),
        ...optionLines(event.scope.options),
      ].join('\n');
    case 'requestSettled':
      return paint('dim', `  ${event.outcome}${event.by === undefined ? '' : ` by ${event.by}`}`);
    case 'status':
      // Why it failed is told by the `error` that follows.
      return paint(
        'dim',
        `  [${event.status}]${event.reason === undefined || event.status === 'failed' ? '' : ` ${event.reason}`}`,
      );
    case 'error':
      return paint('red', `✗ ${event.message}`);
    case 'complete':
      return paint('green', '✓ done');
    default:
      return undefined;
  }
}

/** What an agent logged or a program emitted: its text where it has one, not the JSON around it. */
function noteText(title: string, data: Json): string {
  const fields = fieldsOf(data);
  if (fields !== undefined) {
    const { level, message, value, ...rest } = fields;
    if (title === 'log' && typeof message === 'string')
      return typeof level === 'string' && level !== 'info' ? `${level}: ${message}` : message;
    const isBare = typeof value === 'string' && level === undefined && message === undefined;
    if (isBare && Object.keys(rest).length === 0) return `${title}: ${value}`;
  }
  return `${title}: ${JSON.stringify(data)}`;
}

function consentText(event: Extract<SuspendEvent, { type: 'queryConsent' }>): string {
  const { description } = event.scope;
  return typeof description === 'string' ? description : event.consentType;
}

/** What some agents take beside a yes and a no, by its id. */
function optionLines(options: Json | undefined): readonly string[] {
  if (!Array.isArray(options)) return [];
  return options.flatMap((option: Json) => {
    const { id, name } = fieldsOf(option) ?? {};
    return typeof id === 'string' && typeof name === 'string' ? [`    ${id}: ${name}`] : [];
  });
}

function risk(level: unknown): string {
  return typeof level === 'string' ? ` (risk: ${level})` : '';
}
