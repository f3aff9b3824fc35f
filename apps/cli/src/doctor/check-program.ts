import { checkTarget, resolveTarget } from '../language/project.ts';
import { diagnosticFinding } from './diagnostic-finding.ts';
import { type Finding, failed, messageOf, passed } from './finding.ts';

/** What the checker says of a program; it is asked in a process of its own. */
export function checkProgram(check: string, path: string, color: boolean): Finding {
  if (path.endsWith('.conc-ir')) return passed(check, `${path} is compiled already`);
  let checked: ReturnType<typeof checkTarget>;
  try {
    checked = checkTarget(resolveTarget(path));
  } catch (cause) {
    return failed(check, messageOf(cause), 'correct `entry` in the manifest');
  }
  const { target, findFile } = checked;
  const own = checked.diagnostics.filter((diagnostic) => diagnostic.file !== target.manifest?.file.path);
  const errors = own.filter((diagnostic) => diagnostic.severity === 'error');
  const [worst] = errors.length > 0 ? errors : own;
  if (worst === undefined) return passed(check, `${target.entry} checks`);
  const help = `\`concerto check ${target.entry}\` shows all of them`;
  return { ...diagnosticFinding(check, worst, { findFile, color }), help };
}
