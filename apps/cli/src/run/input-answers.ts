import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createInterface as createPrompt } from 'node:readline/promises';
import type { Json } from '@concerto/base';
import { UsageError } from '../arguments.ts';
import { tell } from '../terminal/print.ts';

/**
 * The next answer for `await emit`; null when there are no more. The signal says that nobody waits any more. `show`
 * shows the question: a person sees one at a time.
 */
export type NextAnswer = (signal: AbortSignal, show: () => void) => Promise<Json>;

const nobody: NextAnswer = async (_signal, show) => {
  show();
  return null;
};

/** `--input FILE` or `-`: one JSON value a line. Without it a person at the terminal answers, or nobody. */
export function inputAnswers(source: string | undefined): NextAnswer {
  if (source === undefined) return process.stdin.isTTY && process.stdout.isTTY ? person() : nobody;
  return source === '-' ? standardInput() : answersFile(source);
}

function answersFile(path: string): NextAnswer {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new UsageError(`cannot read ${path}`);
  }
  const answers = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const parsed = parseLine(line);
    if (parsed === undefined) throw new UsageError(`${path}:${index + 1}: not a JSON value`);
    return [parsed.value];
  });
  return async (_signal, show) => {
    show();
    return answers.shift() ?? null;
  };
}

/** Read only when asked for, so that a person or a program can answer what it has seen. */
function standardInput(): NextAnswer {
  let lines: AsyncIterator<string> | undefined;
  return async (_signal, show) => {
    show();
    lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    for (;;) {
      const next = await lines.next();
      if (next.done === true) return null;
      if (next.value.trim() === '') continue;
      const parsed = parseLine(next.value);
      if (parsed === undefined) throw new Error(`standard input: not a JSON value: ${next.value.slice(0, 80)}`);
      return parsed.value;
    }
  };
}

/** What is not JSON is the text itself: nobody types quotes. Questions wait for each other. */
function person(): NextAnswer {
  let last: Promise<unknown> = Promise.resolve();
  return (signal, show) => {
    const answer = last.then(async () => {
      signal.throwIfAborted();
      show();
      return ask(signal);
    });
    last = answer.catch(() => undefined);
    return answer;
  };
}

async function ask(signal: AbortSignal): Promise<Json> {
  const terminal = createPrompt({ input: process.stdin, output: process.stderr });
  // While it reads, the terminal keeps Ctrl-C to itself.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const line = await terminal.question('> ', { signal });
    const parsed = parseLine(line);
    return parsed === undefined ? line : parsed.value;
  } catch (cause) {
    if (signal.aborted) throw cause;
    // Ctrl-D: there is no answer, as at the end of a file.
    tell('\n');
    return null;
  } finally {
    terminal.close();
  }
}

function parseLine(line: string): { readonly value: Json } | undefined {
  try {
    // Before the first an editor may have put a mark that says how the file is written.
    const value: Json = JSON.parse(line.replace(/^\uFEFF/, ''));
    return { value };
  } catch {
    return undefined;
  }
}
