import { err, ok, type Result } from '@concerto/base';
import { KEYWORDS } from '../lexer/token.ts';
import { STD_TOOLS } from '../modules/std-tools.ts';
import type { Place, Reference } from './code-symbol.ts';
import { type ProgramIndex, referencesTo } from './index-program.ts';

export interface RenameEdit extends Place {
  readonly text: string;
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Why the thing at this place has a name that stays. */
export function cannotRename(reference: Reference): string | undefined {
  const { symbol } = reference;
  if (symbol.declaration === undefined || symbol.declaration.file === STD_TOOLS)
    return `\`${reference.text}\` is built in`;
  if (symbol.kind === 'self' || reference.text === 'Self') return `\`${reference.text}\` is a keyword`;
  if (symbol.kind === 'module' && symbol.declaration.target !== undefined) {
    return `the module \`${symbol.name}\` is named after its file: rename the file`;
  }
  return undefined;
}

/**
 * The edits that give what is named here another name. Names that read otherwise are left: `use a as b` keeps its `b`
 * when `a` is renamed, and renaming `b` leaves `a`.
 */
export function renameSymbol(index: ProgramIndex, reference: Reference, name: string): Result<RenameEdit[], string> {
  const refused = cannotRename(reference);
  if (refused !== undefined) return err(refused);
  if (!IDENTIFIER.test(name) || name === '_')
    return err(`\`${name}\` is not a name: letters, digits and _, no digit first`);
  if (KEYWORDS.has(name)) return err(`\`${name}\` is a keyword`);
  const same = referencesTo(index, reference.symbol).filter(({ text }) => text === reference.text);
  return ok(same.map(({ file, span, ...rest }) => ({ file, span, text: renamed(rest, name) })));
}

function renamed({ text, shorthand, symbol }: Pick<Reference, 'text' | 'shorthand' | 'symbol'>, name: string): string {
  if (symbol.kind === 'label') return `'${name}`;
  if (shorthand === 'field') return `${name}: ${text}`;
  return shorthand === 'value' ? `${text}: ${name}` : name;
}
