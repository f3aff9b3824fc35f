import { harmless, harmlessDeep, type Json, withoutStyles } from '@concerto/base';
import type { FollowedEvent } from '@concerto/client';
import {
  type Choice,
  callAnswer,
  fileOf,
  fileWords,
  type LlmContent,
  programAnswer,
  SessionFold,
  type Settlement,
  type SuspendEvent,
  type Tool,
  textOf,
  type Usage,
  wordsOf,
} from '@concerto/protocol';
import * as z from 'zod';
import { paint } from '../terminal/paint.ts';
import { cut } from '../terminal/wrap.ts';
import { answerText, fieldsOf } from './audit-detail.ts';
import { budgetText } from './budget-words.ts';
import { changeText } from './change-text.ts';
import { usageText } from './show.ts';

export type Paper = {
  /** Whole lines. */
  readonly print: (text: string) => void;
  /** A piece of a line of what is said. */
  readonly write: (piece: string) => void;
  /** Something else is said from now on. */
  readonly fresh: () => void;
  /** What is being done now, where there is a line for it that can be written again; else it is told as a line. */
  readonly progress: ((text: string | undefined) => void) | undefined;
};

const argumentsMax = 200;
const outputLinesMax = 8;
const outputColumnsMax = 400;

type EventOf<Type extends FollowedEvent['type']> = Extract<FollowedEvent, { type: Type }>;

/** Tells a session to a person as it happens. What belongs together is known from the fold of its events, never guessed. */
export class Narration {
  readonly #paper: Paper;
  readonly #fold = new SessionFold();
  /** Of the message that is being said: how much of it stands on the paper. */
  #saying: { readonly id: string | undefined; text: string } | undefined;
  #isMidLine = false;
  readonly #choices = new Map<string, readonly Choice[]>();
  /** Calls whose changes were shown with them. */
  readonly #shownChanges = new Set<string>();
  #plan: EventOf<'plan'>['entries'] = [];
  /** Why the turn failed was told: a session that ends with it says the same again. */
  #hasFailed = false;

  constructor(paper: Paper) {
    this.#paper = paper;
  }

  tell(told: FollowedEvent): void {
    this.#fold.take(told);
    const event = harmlessDeep(told);
    if (event.type === 'content' && event.content.role !== 'user') return this.#say(event);
    const text = this.#lineFor(event);
    if (text !== undefined) this.#line(text);
  }

  #lineFor(event: FollowedEvent): string | undefined {
    switch (event.type) {
      case 'start':
        this.#hasFailed = false;
        this.#saying = undefined;
        this.#paper.fresh();
        this.#shownChanges.clear();
        return `${paint('dim', '▶')} ${wordsOf(event.objective)}`;
      case 'content':
        return paint('cyan', `» ${wordsOf(event.content)}`);
      case 'thought':
        return paint('dim', `  ${event.text.trim()}`);
      case 'functionCall':
        if (event.changes !== undefined && event.changes.length > 0) this.#shownChanges.add(event.callId);
        return event.isTurn === true ? undefined : callText(event);
      case 'functionCallUpdate':
        return event.status === null ? undefined : this.#progress(event.status);
      case 'functionResult':
        return this.#resultText(event);
      case 'plan':
        return this.#planText(event);
      case 'subagentAddJson':
        return toldElsewhere.has(event.title) ? undefined : paint('dim', `  ${noteText(event.title, event.data)}`);
      case 'subagentError':
        this.#hasFailed = true;
        return paint('red', `  ${event.error.$error}`);
      case 'waitForChoice':
        this.#choices.set(event.requestId, event.choices);
        return questionText(event);
      case 'waitForInput':
      case 'queryConsent':
        return questionText(event);
      case 'requestSettled':
        return settledText(event, this.#choices.get(event.requestId) ?? []);
      case 'turnComplete':
        return this.#turnText(event);
      default:
        return this.#sessionText(event);
    }
  }

  #sessionText(event: FollowedEvent): string | undefined {
    switch (event.type) {
      case 'status': {
        // Why it failed is told by the `error` that follows.
        const reason = event.reason === undefined || event.status === 'failed' ? '' : ` ${event.reason}`;
        const who = event.by === undefined || !wished.has(event.status) ? '' : ` by ${event.by}`;
        return this.#progress(`[${event.status}]${reason}${who}`);
      }
      case 'budget':
        return paint(event.level === 'raised' ? 'dim' : 'yellow', `  budget ${event.level}: ${budgetText(event)}`);
      case 'gap':
        return paint('dim', `  (what came before ${event.to} is not kept any more)`);
      case 'error':
        return this.#hasFailed ? undefined : paint('red', `✗ ${event.message}`);
      case 'complete':
        return paint('green', '✓ done');
      case 'finish':
        this.#paper.progress?.(undefined);
        return this.totalText();
      default:
        return undefined;
    }
  }

  /** A message in pieces; one that stands whole here replaces what its pieces said. */
  #say({ content, messageId, whole }: EventOf<'content'>): void {
    const text = wordsOf(content) || JSON.stringify(content.parts);
    if (this.#saying === undefined || this.#saying.id !== messageId || messageId === undefined) {
      if (this.#saying?.id !== messageId || whole === true) {
        this.#endLine();
        this.#paper.fresh();
      }
      this.#saying = { id: messageId, text: '' };
    }
    const { text: known } = this.#saying;
    if (whole === true && known !== '' && !text.startsWith(known)) this.#endLine();
    const rest = whole === true && text.startsWith(known) ? text.slice(known.length) : text;
    this.#saying.text = whole === true ? text : known + text;
    if (rest === '') return;
    this.#isMidLine = !rest.endsWith('\n');
    this.#paper.write(rest);
  }

  #progress(text: string): string | undefined {
    if (this.#paper.progress === undefined) return paint('dim', `  ${text}`);
    this.#paper.progress(text);
    return undefined;
  }

  #resultText({ callId }: EventOf<'functionResult'>): string | undefined {
    const tool = this.#toolOf(callId);
    if (tool === undefined) return undefined;
    const parts = [
      ...(tool.changes.length === 0 || tool.state !== 'ok' || this.#shownChanges.has(callId)
        ? []
        : [changeText(harmlessDeep(tool.changes))]),
      ...outputText(tool),
      ...filesText(tool),
      ...answeredText(tool),
      ...outcomeText(tool),
    ];
    return parts.length === 0 ? undefined : parts.join('\n');
  }

  #toolOf(callId: string): Tool | undefined {
    const turn = this.#fold.view.turns.at(-1);
    const among = (tools: readonly Tool[]): Tool | undefined => {
      for (const tool of tools) {
        const found = tool.callId === callId ? tool : among(tool.calls);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    return among((turn?.entries ?? []).flatMap((entry) => (entry.kind === 'tool' ? [entry] : [])));
  }

  /** All of it once; after that what has changed in it. */
  #planText({ entries }: EventOf<'plan'>): string | undefined {
    const known = this.#plan;
    this.#plan = entries;
    const isSame =
      known.length === entries.length && entries.every(({ content }, at) => content === known[at]?.content);
    const told = isSame ? entries.filter(({ status }, at) => status !== known[at]?.status) : entries;
    return told.length === 0 ? undefined : told.map(planLine).join('\n');
  }

  #turnText({ outcome, reason }: EventOf<'turnComplete'>): string | undefined {
    this.#paper.progress?.(undefined);
    const { usage } = this.#fold.view.turns.at(-1) ?? {};
    const ended =
      outcome === undefined || outcome === 'done' || this.#hasFailed ? '' : endedText(outcome, reason ?? outcome);
    const used = usage === undefined || isNothing(usage.total) ? '' : usageText(usage.total);
    const text = [ended, used].filter((part) => part !== '').join(' · ');
    return text === '' ? undefined : paint('dim', `  ${text}`);
  }

  /** What all of it took; of one turn it was said already. */
  totalText(): string | undefined {
    const { usage, turns } = this.#fold.view;
    const count = turns.filter(({ number }) => number > 0).length;
    if (isNothing(usage.total) || count < 2) return undefined;
    return paint('dim', `  all ${count} turns: ${usageText(usage.total)}`);
  }

  #line(text: string): void {
    this.#endLine();
    this.#paper.print(text);
  }

  #endLine(): void {
    if (this.#isMidLine) this.#paper.write('\n');
    this.#isMidLine = false;
  }
}

function endedText(outcome: string, reason: string): string {
  return reason === outcome ? outcome : `${outcome} ${reason}`;
}

/** Progress stands below what is said; that a program listens is told by the call of its agent. */
const toldElsewhere: ReadonlySet<string> = new Set(['progress', 'listen:start', 'listen:complete']);

function planLine({ content, status }: EventOf<'plan'>['entries'][number]): string {
  return `  ${planSigns[status]} ${content}`;
}

const planSigns = { pending: '☐', in_progress: '▸', completed: '☑' } as const;

function isNothing({ inputTokens, outputTokens, costMicroUsd }: Usage): boolean {
  return inputTokens === 0 && outputTokens === 0 && (costMicroUsd ?? 0) === 0;
}

function callText({ name, title, args, changes, parentCallId, childSession }: EventOf<'functionCall'>): string {
  const { command } = args;
  const said = typeof command === 'string' ? `$ ${command}` : JSON.stringify(args);
  const about = title === undefined || typeof command === 'string' ? ` ${short(said)}` : '';
  const where = childSession === undefined ? '' : ` (${childSession})`;
  const indent = parentCallId === undefined ? '  ' : '    ';
  const head = paint('dim', `${indent}${title ?? name}${about}${where}`);
  return changes === undefined || changes.length === 0 ? head : `${head}\n${changeText(changes)}`;
}

function short(text: string): string {
  return text.length > argumentsMax ? `${text.slice(0, argumentsMax)}…` : text;
}

/** The end of what it printed: that is where it says how it went. */
function outputText(tool: Tool): readonly string[] {
  const output = printedBy(tool);
  if (output.trim() === '' || tool.toolKind === 'read' || tool.toolKind === 'search') return [];
  const lines = harmless(withoutStyles(output)).trimEnd().split('\n');
  const shown = lines.slice(-outputLinesMax).map((line) => paint('dim', `    ${cut(line, outputColumnsMax)}`));
  const hidden = lines.length - shown.length;
  return hidden === 0 ? shown : [paint('dim', `    … ${hidden} lines before`), ...shown];
}

/** What came while it ran; a command that told nothing then says it with its result. */
function printedBy({ output, toolKind, args, state, result }: Tool): string {
  const isCommand = toolKind === 'execute' || typeof args.command === 'string';
  return output === '' && isCommand && state === 'ok' && result !== undefined ? givenText(result) : output;
}

const Given = z.looseObject({ response: z.looseObject({ result: z.string() }) });

/** The words of a result, also where they stand in what a function gave back. */
function givenText(result: LlmContent): string {
  const given = result.parts.flatMap((part) => {
    const given: unknown = 'functionResponse' in part ? part.functionResponse : undefined;
    const read = Given.safeParse(given);
    return read.success ? [read.data.response.result] : [];
  });
  return [textOf(result), ...given].filter((text) => text !== '').join('\n');
}

/** What it gave that no terminal shows. */
function filesText({ result }: Tool): readonly string[] {
  return (result?.parts ?? []).flatMap((part) => {
    const file = fileOf(part);
    return file === undefined ? [] : [paint('dim', `    [${harmless(fileWords(file))}]`)];
  });
}

/** Of a model or an agent that a program asked. */
function answeredText(tool: Tool): readonly string[] {
  const answer = callAnswer(tool);
  if (answer === undefined) return [];
  const took = answer.tokens === 0 ? '' : `, ${answer.tokens.toLocaleString('en')} tokens`;
  return [paint('dim', `  ${harmless(tool.name)} ${answer.did} ${harmless(short(answer.text))}${took}`)];
}

function outcomeText({ state, name, error, result }: Tool): readonly string[] {
  if (state === 'ok' || state === 'running') return [];
  const why = harmless(error ?? (result === undefined ? '' : givenText(result))).trim();
  const text = `  ✗ ${harmless(name)} ${state}${why === '' ? '' : `: ${short(why)}`}`;
  return [paint(state === 'failed' ? 'red' : 'yellow', text)];
}

/** What an agent logged or a program emitted: its text where it has one, not the JSON around it. */
function noteText(title: string, data: Json): string {
  const answer = programAnswer({ title, data });
  if (answer !== undefined) return `answered ${answerText(answer.response)} in ${answer.session}`;
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

/** `most`: so many lines of a change. */
export function questionText(
  event: Extract<SuspendEvent, { type: 'waitForInput' | 'waitForChoice' | 'queryConsent' }>,
  most?: number,
): string {
  const options = (event.options ?? []).map(({ id, label }) => `    ${id}: ${label}`);
  if (event.type === 'waitForInput') return [paint('yellow', `? ${textOf(event.prompt)}`), ...options].join('\n');
  if (event.type === 'waitForChoice') {
    const choices = event.choices.map((choice, index) => `    ${index + 1}. ${textOf(choice.content)}`);
    return [paint('yellow', `? ${textOf(event.prompt)}`), ...choices].join('\n');
  }
  const { description, risk_level: level, command } = event.scope;
  const what = typeof description === 'string' ? description : event.consentType;
  const risk = typeof level === 'string' ? ` (risk: ${level})` : '';
  return [
    paint('yellow', `! ${what}${risk}`),
    ...(typeof command === 'string' && command !== what ? [`    $ ${command}`] : []),
    ...(event.changes === undefined || event.changes.length === 0 ? [] : [changeText(event.changes, most)]),
    ...(options.length > 0 ? options : namedOptions(event.scope.options)),
  ].join('\n');
}

/** What a session comes to be because somebody said so. */
const wished: ReadonlySet<string> = new Set([
  'interrupting',
  'interrupted',
  'pausing',
  'paused',
  'cancelling',
  'cancelled',
]);

/** What some agents take beside a yes and a no, by its id. */
function namedOptions(options: Json | undefined): readonly string[] {
  if (!Array.isArray(options)) return [];
  return options.flatMap((option: Json) => {
    const { id, name } = fieldsOf(option) ?? {};
    return typeof id === 'string' && typeof name === 'string' ? [`    ${id}: ${name}`] : [];
  });
}

function settledText({ outcome, by, reason, response }: Omit<Settlement, 'at'>, choices: readonly Choice[]): string {
  const selected = fieldsOf(response)?.selected;
  const chosen = Array.isArray(selected) ? choices.filter(({ id }) => selected.includes(id)) : [];
  const text = chosen.length > 0 ? chosen.map(({ content }) => textOf(content)).join(', ') : answerText(response);
  const said = outcome === 'answered' ? (text ?? 'answered') : outcome;
  const who = by === undefined ? '' : ` by ${by}`;
  const isRefused = outcome === 'answered' && said === 'no';
  return paint(
    isRefused ? 'yellow' : 'dim',
    `  → ${said.replaceAll('\n', '\n    ')}${who}${reason === undefined ? '' : `: ${reason}`}`,
  );
}
