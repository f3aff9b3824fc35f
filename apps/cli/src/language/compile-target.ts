import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type IrModule, parseModule } from '@concerto/ir';
import { compileProgram, createSourceFile, type FindFile } from '@concerto/language';
import { UsageError } from '../arguments.ts';
import { showsColour } from '../terminal/paint.ts';
import { tell } from '../terminal/print.ts';
import { checkWithServers } from './ask-mcp-servers.ts';
import { diagnosticsText } from './print-diagnostics.ts';
import { type CheckedProgram, checkTarget, findManifest, readTextFile, resolveTarget, type Target } from './project.ts';

export interface CompiledTarget {
  readonly module: IrModule;
  /** As given, or the entry of the manifest. */
  readonly entry: string;
  /** Where agents start: the manifest's directory, or the file's when there is none. */
  readonly projectDirectory: string;
  readonly findFile: FindFile;
}

/** Compiles a program, or reads a compiled one. Undefined when it has errors, which are then on standard error. */
export function compileTarget(path: string | undefined): CompiledTarget | undefined {
  return said(compileQuietly(path, showsColour(process.stderr)));
}

/** `complaints` is what there is to say of it, as it is shown. */
type Compilation = { readonly compiled: CompiledTarget | undefined; readonly complaints: string };

export function compileQuietly(path: string | undefined, color: boolean): Compilation {
  if (path?.endsWith('.conc-ir') === true) return readCompiled(path);
  return compileChecked(checkTarget(runnable(resolveTarget(path))), color);
}

function said({ compiled, complaints }: Compilation): CompiledTarget | undefined {
  tell(complaints);
  return compiled;
}

/** The same, with the MCP servers asked which tools they have. A compiled program was checked when it was compiled. */
export async function compileWithServers(path: string | undefined): Promise<CompiledTarget | undefined> {
  if (path?.endsWith('.conc-ir') === true) return said(readCompiled(path));
  return said(compileChecked(await checkWithServers(runnable(resolveTarget(path))), showsColour(process.stderr)));
}

/** The manifest of a server alone says nothing about a program to run. */
function runnable(target: Target): Target {
  if (target.entry === '' && target.manifest?.manifest !== undefined) {
    throw new UsageError(`${target.manifest.file.path} has no [project]: name a program`);
  }
  return target;
}

function compileChecked(checked: CheckedProgram, color: boolean): Compilation {
  const { target } = checked;
  const complaints = diagnosticsText(checked.diagnostics, checked.findFile, color);
  if (checked.hasErrors) return { compiled: undefined, complaints };
  const { program, facts, manifest, findFile } = checked;
  const module = compileProgram({ program, facts, manifest });
  const projectDirectory = target.manifest?.directory ?? dirname(resolve(target.entry));
  return { compiled: { module, entry: target.entry, projectDirectory, findFile }, complaints };
}

function readCompiled(path: string): Compilation {
  const parsed = parseModule(readFileSync(path, 'utf8'));
  if (!parsed.ok) return { compiled: undefined, complaints: `error: ${path}: ${parsed.error}\n` };
  const directory = dirname(resolve(path));
  // The sources may still be where they were; a failure is then shown with them.
  const findFile: FindFile = (file) => {
    const text = readTextFile(file);
    return text === undefined ? undefined : createSourceFile(file, text);
  };
  const projectDirectory = findManifest(directory)?.directory ?? directory;
  return { compiled: { module: parsed.value, entry: path, projectDirectory, findFile }, complaints: '' };
}
