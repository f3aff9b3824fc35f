import type { CheckResult } from '../check/check-program.ts';
import type { ModuleScope } from '../check/module-scope.ts';
import type { Program } from '../modules/program.ts';
import type { Item } from '../syntax/item.ts';
import { type CodeSymbol, familyOf, type Reference } from './code-symbol.ts';
import { declareSymbols } from './declare-symbols.ts';
import { findReferences } from './find-references.ts';
import { SymbolTable } from './symbol-table.ts';

/** Who names what in a program that was checked. */
export interface ProgramIndex {
  readonly program: Program;
  readonly checked: CheckResult;
  readonly symbols: SymbolTable;
  /** By file, in the order of the text. */
  readonly references: ReadonlyMap<string, readonly Reference[]>;
}

export function indexProgram(program: Program, checked: CheckResult): ProgramIndex {
  const symbols = new SymbolTable(declareSymbols(program, checked), checked.context);
  for (const [file, { tree }] of program.files) {
    const module = checked.context.fileModules.get(file);
    if (module !== undefined) linkModules(symbols, tree.items, module);
  }
  const references = new Map<string, readonly Reference[]>();
  for (const [file, { tree }] of program.files) {
    const found = findReferences({ file, tree, checked, symbols });
    references.set(
      file,
      found.toSorted((a, b) => a.span.start - b.span.start || a.span.end - b.span.end),
    );
  }
  return { program, checked, symbols, references };
}

function linkModules(symbols: SymbolTable, items: readonly Item[], scope: ModuleScope): void {
  for (const item of items) {
    const meaning = item.kind === 'ModuleItem' ? scope.entries.get(item.name.text)?.meaning : undefined;
    if (item.kind !== 'ModuleItem' || meaning?.kind !== 'module') continue;
    symbols.setModule(meaning.module, item);
    linkModules(symbols, item.items ?? [], meaning.module);
  }
}

/** The reference that the offset touches. Of a name that is two at once, the variable. */
export function referenceAt(index: ProgramIndex, file: string, offset: number): Reference | undefined {
  const touching = (index.references.get(file) ?? []).filter(
    ({ span }) => span.start <= offset && offset <= span.end && span.end > span.start,
  );
  const under = touching.filter(({ span }) => offset < span.end);
  const candidates = under.length > 0 ? under : touching;
  return candidates.find(({ shorthand }) => shorthand === 'value') ?? candidates[0];
}

/** Everywhere the symbol is named, its declaration too; for a method of a trait also where it is implemented. */
export function referencesTo(index: ProgramIndex, symbol: CodeSymbol): Reference[] {
  const family = familyOf(symbol);
  return [...index.references.values()].flat().filter((reference) => familyOf(reference.symbol) === family);
}
