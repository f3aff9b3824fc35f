import { readFileSync } from 'node:fs';
import { type Manifest, readManifest, renderDiagnostic } from '@concerto/language';
import { Rule } from '@concerto/protocol';
import * as z from 'zod';
import { UsageError } from '../arguments.ts';
import { showsColour } from '../terminal/paint.ts';
import { tell } from '../terminal/print.ts';

/** `rules`: those for all; of a file that is a manifest, or a part of one, the rest of it too. */
export type RuleFile = { readonly rules: readonly Rule[]; readonly manifest?: Manifest };

const Rules = z.union([z.array(Rule), z.object({ rules: z.array(Rule) }).transform(({ rules }) => rules)]);

/** A manifest, or a part of one with `[[rules]]`, or JSON: a list of rules, or `rules` that are one. */
export function readRuleFile(file: string): RuleFile {
  const text = readText(file);
  if (file.endsWith('.json')) return { rules: readJsonRules(file, text) };
  const { manifest, diagnostics, file: source } = readManifest(text, file);
  for (const diagnostic of diagnostics)
    tell(renderDiagnostic(diagnostic, () => source, { color: showsColour(process.stderr) }));
  if (manifest === undefined) throw new UsageError(`${file} has errors`);
  return { rules: manifest.rules.map((rule) => Rule.parse(rule)), manifest };
}

/** What a session is started with; an empty list is as good as none, and most likely the wrong file. */
export function sessionRules(file: string): Rule[] {
  const { rules } = readRuleFile(file);
  if (rules.length === 0) throw new UsageError(`${file} has no [[rules]]`);
  return [...rules];
}

function readText(file: string): string {
  try {
    // Without the mark that says how it is written.
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    throw new UsageError(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

function readJsonRules(file: string, text: string): readonly Rule[] {
  try {
    return Rules.parse(JSON.parse(text));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause);
    throw new UsageError(`${file} is no list of rules: ${why}`);
  }
}
