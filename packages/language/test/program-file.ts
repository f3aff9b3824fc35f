import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A program whose comments say what must happen: see `programs/README.md`. */
export interface ProgramFile {
  readonly name: string;
  readonly path: string;
  readonly text: string;
  /** Lines of output; `<ANY>` stands for any text. */
  readonly expect: readonly string[];
  /** `LINE TEXT`: a diagnostic on that line whose message or help has the text. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** Text the failure must contain; the program must fail when there is one. */
  readonly failure: readonly string[];
  readonly exit: number;
  /** System events to keep. */
  readonly events: ReadonlySet<string>;
  /** Answers for `await emit`. */
  readonly answers: readonly string[];
  readonly isTest: boolean;
  /** `pass NAME` or `fail NAME`. */
  readonly tests: readonly string[];
}

const ROOT = join(fileURLToPath(new URL('.', import.meta.url)), 'programs');

export function readProgramFiles(): ProgramFile[] {
  return readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.conc'))
    .toSorted()
    .map((path) => readProgramFile(join(ROOT, path)));
}

function readProgramFile(path: string): ProgramFile {
  const text = readFileSync(path, 'utf8');
  const all = (name: string): string[] =>
    [...text.matchAll(new RegExp(`^// ${name}:(?: (.*))?$`, 'gm'))].map((match) => (match[1] ?? '').trimEnd());
  return {
    name: relative(ROOT, path).replace(/\.conc$/, ''),
    path,
    text,
    expect: all('expect'),
    errors: all('expect-error'),
    warnings: all('expect-warning'),
    failure: all('expect-stderr'),
    exit: Number(all('expect-exit')[0] ?? 0),
    events: new Set((all('events')[0] ?? '').split(',').map((name) => name.trim())),
    answers: all('answer'),
    isTest: all('command')[0] === 'test',
    tests: all('expect-test'),
  };
}
