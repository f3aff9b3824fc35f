import { err, ok, type Result } from '@concerto/base';
import type { Catalog } from '../catalog.ts';
import { cannotSupervise, noSupervisor, supervisorOf } from '../conducting/program-sessions.ts';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import { knownSupervisor } from './plan-start.ts';

/**
 * The program of that name, where somebody names it and it can answer for a session as its files are now. What the manifest
 * names is not looked at with each start: its requests are passed on with the reason.
 */
export async function readySupervisor(
  name: string | null | undefined,
  catalog: Catalog,
): Promise<Result<string | undefined, ServiceRefusal>> {
  const known = name === null || name === undefined ? ok(undefined) : knownSupervisor(name, catalog);
  if (!known.ok || known.value === undefined) return known;
  const program = known.value;
  const entry = catalog.find('program', program);
  if (entry?.kind !== 'program') return known;
  const loaded = await entry.load();
  if (!loaded.ok) return err(refusal('broken_program', cannotSupervise(program, loaded.error)));
  const { module } = loaded.value;
  if (supervisorOf(module, program) === undefined) return err(refusal('no_supervisor', noSupervisor(module, program)));
  return known;
}
