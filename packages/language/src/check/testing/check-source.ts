import { loadProgram } from '../../modules/load-program.ts';
import { parseSource } from '../../parser/parse-source.ts';
import { createSourceFile, positionAt } from '../../source/source-file.ts';
import { checkProgram, type ManifestNames } from '../check-program.ts';

export interface Sources {
  /** Other files by path; the program is `main.conc`. */
  readonly files?: Readonly<Record<string, string>>;
  readonly manifest?: ManifestNames;
}

/** Checks a program out of text. */
export function checkSource(source: string, options: Sources = {}) {
  const files: Readonly<Record<string, string>> = { ...options.files, 'main.conc': source };
  const loaded = loadProgram({
    entry: 'main.conc',
    readFile: (path) => (Object.hasOwn(files, path) ? files[path] : undefined),
    parse: parseSource,
  });
  const { manifest } = options;
  const checked = checkProgram(
    manifest === undefined ? { program: loaded.program } : { program: loaded.program, manifest },
  );
  return { ...checked, program: loaded.program, diagnostics: [...loaded.diagnostics, ...checked.diagnostics] };
}

/** What is wrong with a program, one line each: `3 error C0205 message`, with the file when it is not the entry. */
export function diagnose(source: string, options: Sources = {}): string[] {
  const { diagnostics, program } = checkSource(source, options);
  return diagnostics.map((diagnostic) => {
    const file = program.files.get(diagnostic.file)?.source ?? createSourceFile(diagnostic.file, '');
    const { line } = positionAt(file, diagnostic.span.start);
    const where = diagnostic.file === 'main.conc' ? `${line}` : `${diagnostic.file}:${line}`;
    return `${where} ${diagnostic.severity} ${diagnostic.code} ${diagnostic.message}`;
  });
}

/** Only the errors. */
export function errorsOf(source: string, options: Sources = {}): string[] {
  return diagnose(source, options).filter((line) => line.includes(' error '));
}
