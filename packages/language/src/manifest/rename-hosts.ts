import { parse, TomlError } from 'smol-toml';
import { applyFixes } from '../diagnostics/apply-fixes.ts';
import type { DiagnosticFix } from '../diagnostics/diagnostic.ts';
import type { SourceFile } from '../source/source-file.ts';
import { type KeyPlace, splitKey } from './key-places.ts';

const FIRST_KEY = /^(\s*)(hosts|"hosts"|'hosts')\s*(?:\.|$)/;

/**
 * Calls `hosts` `agents` wherever it is written. None where that would leave another manifest: with two `[agents]`, or
 * a table inside of braces that another header adds to.
 */
export function renameHosts(file: SourceFile, places: readonly KeyPlace[]): DiagnosticFix | undefined {
  const edits = places.flatMap((place) => {
    const written = file.text.slice(place.span.start, place.span.end);
    const isAtTop = place.isHeader || splitKey(written).length === place.path.length;
    const [, indent, key] = (isAtTop && FIRST_KEY.exec(written)) || [];
    if (indent === undefined || key === undefined) return [];
    const start = place.span.start + indent.length;
    return [{ span: { start, end: start + key.length }, text: 'agents' }];
  });
  const fix = { title: 'rename to [agents.*]', edits };
  return isRenamed(applyFixes(file.text, [fix]).text) ? fix : undefined;
}

function isRenamed(text: string): boolean {
  try {
    return !Object.hasOwn(parse(text), 'hosts');
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return false;
  }
}
