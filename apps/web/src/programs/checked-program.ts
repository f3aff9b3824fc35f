import {
  analyseProgram,
  type ColoredToken,
  type Completion,
  CURSOR_MARK,
  colorTokens,
  completeAt,
  type Description,
  type Diagnostic,
  describeSymbol,
  indexProgram,
  type ManifestResult,
  type ProgramIndex,
  readManifest,
  referenceAt,
  type Span,
} from '@concerto/language';
import type { ProgramSource } from '@concerto/protocol';

/** By path, as they stand in the editor. */
export type Texts = ReadonlyMap<string, string>;

export type Hovered = Description & { readonly span: Span };

/** A program as its texts are now, checked in the browser just as `concerto check` does it. */
export class CheckedProgram {
  readonly #source: ProgramSource;
  readonly #manifest: ManifestResult | undefined;
  readonly #texts: Texts;
  readonly #index: ProgramIndex;
  readonly diagnostics: readonly Diagnostic[];

  constructor(source: ProgramSource, texts: Texts) {
    this.#source = source;
    this.#texts = texts;
    const { manifest } = source;
    this.#manifest = manifest === undefined ? undefined : readManifest(manifest.text, manifest.path);
    const checked = this.#analyse(texts);
    this.#index = indexProgram(checked.program, checked);
    this.diagnostics = checked.diagnostics;
  }

  colors(file: string): readonly ColoredToken[] {
    const source = this.#index.program.files.get(file)?.source;
    return source === undefined ? [] : colorTokens(source, this.#index.references.get(file) ?? []);
  }

  /** Read once more with a mark at the cursor: what is being typed is rarely whole. */
  completions(file: string, text: string, offset: number): readonly Completion[] {
    const marked = `${text.slice(0, offset)}${CURSOR_MARK}${text.slice(offset)}`;
    const checked = this.#analyse(new Map(this.#texts).set(file, marked));
    const index = indexProgram(checked.program, checked);
    return completeAt({ index, file, offset, manifest: this.#manifest?.manifest });
  }

  hover(file: string, offset: number): Hovered | undefined {
    const reference = referenceAt(this.#index, file, offset);
    if (reference === undefined) return undefined;
    return { ...describeSymbol(this.#index, reference.symbol), span: reference.span };
  }

  #analyse(texts: Texts) {
    const { entry } = this.#source;
    return analyseProgram({ entry, readFile: (path) => texts.get(path), manifest: this.#manifest?.manifest });
  }
}
