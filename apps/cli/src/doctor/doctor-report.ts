import { harmless, harmlessLine } from '@concerto/base';
import { amount } from '../terminal/amount.ts';
import { paint } from '../terminal/paint.ts';
import { printJson, tell, write } from '../terminal/print.ts';
import { type CheckTask, type Finding, failed, messageOf } from './finding.ts';

/** Checks that run at once: most of their time is waiting for others. */
const checksAtOnce = 4;
const checkWidth = 26;
const statusWidth = 6;
/** How often a person who does not watch a terminal hears that we still wait. */
const stillWaitingMs = 10_000;
const redrawMs = 250;

const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

export type ReportOptions = { readonly json: boolean; readonly calledOff: AbortSignal };

/** Runs the checks, prints what they find in their own order as soon as it is known, and gives all of it. */
export async function reportChecks(tasks: readonly CheckTask[], options: ReportOptions): Promise<readonly Finding[]> {
  const progress = new Progress();
  const found: (readonly Finding[] | undefined)[] = tasks.map(() => undefined);
  const queue = [...tasks.entries()];
  let printed = 0;
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, task] = next;
      found[index] = options.calledOff.aborted ? [] : await runTask(task, progress);
      for (let ready = found[printed]; ready !== undefined; ready = found[printed]) {
        printed += 1;
        if (!options.json) progress.clearThen(() => ready.forEach(printFinding));
      }
    }
  };
  await Promise.all(Array.from({ length: checksAtOnce }, worker));
  progress.end();
  const findings = found.flatMap((some) => some ?? []);
  if (options.json) printJson(findings.map(asJson));
  else write(`\n${summary(findings)}\n`);
  return findings;
}

async function runTask(task: CheckTask, progress: Progress): Promise<readonly Finding[]> {
  try {
    return await task.run((doing) => progress.say(task.name, doing));
  } catch (cause) {
    return [failed(task.name, `the check itself failed: ${messageOf(cause)}`, 'report this as a bug of Concerto')];
  } finally {
    progress.done(task.name);
  }
}

function asJson({ picture: _picture, ...finding }: Finding): Omit<Finding, 'picture'> {
  return finding;
}

function printFinding({ check, status, picture, ...finding }: Finding): void {
  // What agents, models and servers said is in both.
  const message = harmless(finding.message);
  const help = finding.help === undefined ? undefined : harmless(finding.help);
  const indent = ' '.repeat(statusWidth);
  const head = `${paint(colours[status], status.padEnd(statusWidth))}${check.padEnd(checkWidth)}`;
  // A picture says all of the message, and often the help too.
  const lines = picture === undefined ? [`${head} ${message.replaceAll('\n', `\n${indent}  `)}`] : [head.trimEnd()];
  if (picture !== undefined) lines.push(picture.trimEnd());
  if (help !== undefined && picture?.includes(help) !== true)
    lines.push(`${indent}${paint('bold', 'to do:')} ${help.replaceAll('\n', `\n${indent}  `)}`);
  write(`${lines.join('\n')}\n`);
}

function summary(findings: readonly Finding[]): string {
  const count = (status: Finding['status']): number => findings.filter((finding) => finding.status === status).length;
  const parts = [`${count('ok')} ok`, amount(count('warn'), 'warning'), amount(count('fail'), 'failure')];
  return parts.join(', ');
}

/** What is waited for: a line that is rewritten on a terminal, and a word now and then elsewhere. On stderr. */
class Progress {
  readonly #doing = new Map<string, { readonly doing: string; readonly since: number }>();
  readonly #timer: NodeJS.Timeout;
  readonly #isTerminal = process.stderr.isTTY;
  #hasLine = false;

  constructor() {
    this.#timer = setInterval(() => this.#show(), this.#isTerminal ? redrawMs : stillWaitingMs);
  }

  say(name: string, doing: string): void {
    this.#doing.set(name, { doing, since: Date.now() });
  }

  done(name: string): void {
    this.#doing.delete(name);
  }

  clearThen(print: () => void): void {
    if (this.#hasLine) process.stderr.write('\r\u001b[K');
    this.#hasLine = false;
    print();
  }

  end(): void {
    clearInterval(this.#timer);
    this.clearThen(() => {});
  }

  #show(): void {
    const waiting = [...this.#doing].map(
      ([name, { doing, since }]) => `${name}: ${doing} (${Math.round((Date.now() - since) / 1000)} s)`,
    );
    if (waiting.length === 0) return;
    if (!this.#isTerminal) {
      tell(`waiting for ${waiting.join('; ')}\n`);
      return;
    }
    const line = harmlessLine(`… ${waiting.join('; ')}`).slice(0, Math.max(20, (process.stderr.columns ?? 80) - 1));
    process.stderr.write(`\r\u001b[K${line}`);
    this.#hasLine = true;
  }
}
