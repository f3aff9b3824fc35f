import { type FindFile, renderDiagnostic, type SourceFile } from '@concerto/language';
import type { ProgramFailure, ProgramOutcome } from '@concerto/runtime/program';
import type { TraceEntry } from '@concerto/vm';
import { showsColour } from '../terminal/paint.ts';
import { printError, tell } from '../terminal/print.ts';

/** A deep recursion repeats itself; its middle tells nothing. */
const SHOWN_FRAMES = 16;

/** `main` may return a Result: an error is the program's failure. Gives the exit code. */
export function reportResult(outcome: ProgramOutcome, findFile: FindFile): number {
  if (outcome.status === 'failed') {
    tell(failureText(outcome.failure, findFile, showsColour(process.stderr)));
    return 1;
  }
  if (outcome.isError) printError(outcome.value.shown);
  return outcome.isError ? 1 : 0;
}

/** What went wrong, where, and how the program got there. */
export function failureText(failure: ProgramFailure, findFile: FindFile, color: boolean): string {
  const kind = failure.panic ? 'panic' : 'runtime error';
  const place = failure.trace.find((entry) => entry.file !== undefined);
  const file = place?.file === undefined ? undefined : findFile(place.file);
  const head = `${kind}: ${failure.message}`;
  if (place?.file === undefined || file === undefined) return `error: ${head}\n${traceText(failure.trace)}`;
  const start = offsetOf(file, place);
  const text = renderDiagnostic(
    {
      code: failure.panic ? 'panic' : failure.type,
      severity: 'error',
      message: head,
      file: place.file,
      span: { start, end: start + 1 },
      labels: [],
    },
    findFile,
    { color },
  );
  return `${text}${traceText(failure.trace)}`;
}

function offsetOf(file: SourceFile, place: TraceEntry): number {
  const start = file.lineStarts[place.line - 1] ?? 0;
  const line = file.text.slice(start, file.lineStarts[place.line] ?? file.text.length);
  return (
    start +
    Array.from(line)
      .slice(0, place.column - 1)
      .join('').length
  );
}

function traceText(trace: readonly TraceEntry[]): string {
  const lines = trace.map((entry) => {
    const where = entry.file === undefined ? '' : ` (${entry.file}:${entry.line}:${entry.column})`;
    return `  at ${entry.function}${where}`;
  });
  if (lines.length > SHOWN_FRAMES) {
    const half = SHOWN_FRAMES / 2;
    lines.splice(half, lines.length - SHOWN_FRAMES, `  … ${lines.length - SHOWN_FRAMES} more`);
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}
