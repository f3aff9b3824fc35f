import { parse, TomlError } from 'smol-toml';
import type { DiagnosticFix } from '../diagnostics/diagnostic.ts';

/**
 * Appends what the fixes have for the manifest. What it already says is not said twice; a fix whose lines would make it
 * unreadable (another `[connections.NAME]` is there) is left out whole.
 */
export function addManifestLines(
  text: string,
  fixes: readonly DiagnosticFix[],
): { text: string; applied: DiagnosticFix[] } {
  let result = text;
  const applied: DiagnosticFix[] = [];
  for (const fix of fixes) {
    const added = fix.manifestLines === undefined ? result : withLines(result, fix.manifestLines);
    if (added === undefined) continue;
    result = added;
    applied.push(fix);
  }
  return { text: result, applied };
}

function withLines(text: string, lines: readonly string[]): string | undefined {
  const appended = `${text.trimEnd()}\n${lines.join('\n')}\n`;
  const [before, wanted, after] = [text, lines.join('\n'), appended].map(tablesOf);
  if (before === undefined || wanted === undefined) return undefined;
  return says(before, wanted) ? text : after && appended;
}

function tablesOf(text: string): object | undefined {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return undefined;
  }
}

/** Whether every table `[a.b]` of the one is in the other as it is. */
function says(there: object, wanted: object): boolean {
  const known = new Map(entriesOf(there));
  return entriesOf(wanted).every(([name, table]) => known.get(name) === table);
}

function entriesOf(document: object): [name: string, table: string][] {
  return Object.entries(document).flatMap(([outer, tables]: [string, unknown]) =>
    typeof tables !== 'object' || tables === null
      ? []
      : Object.entries(tables).map(([name, table]): [string, string] => [`${outer}.${name}`, JSON.stringify(table)]),
  );
}
