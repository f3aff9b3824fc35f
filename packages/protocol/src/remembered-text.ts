import type { SuspendEvent } from './agent-event.ts';
import { pathsOfChanges } from './files-of-change.ts';

type ConsentEvent = Extract<SuspendEvent, { type: 'queryConsent' }>;

/** Whether it names what it is about, so that the very same can be told apart from everything else. */
export function canBeKnownAgain({ consentType, scope, locations = [], changes = [] }: ConsentEvent): boolean {
  const { tool, command, paths, server } = scope;
  if (consentType !== 'approval' || typeof tool !== 'string') return false;
  if (typeof command === 'string' || typeof server === 'string') return true;
  return locations.length + changes.length > 0 || (Array.isArray(paths) && paths.length > 0);
}

/** What a rule that is made of it answers by itself from then on, to be read before it is added. */
export function rememberedText({ scope, locations = [], changes = [] }: ConsentEvent): string {
  const { tool, server, command } = scope;
  const named = Array.isArray(scope.paths) ? scope.paths : [];
  const paths = [...new Set([...named, ...locations.map(({ path }) => path), ...pathsOfChanges(changes)])];
  const parts = [
    ...(typeof tool === 'string' ? [`tool = ${tool}`] : []),
    ...(typeof server === 'string' ? [`server = ${server}`] : []),
    ...(typeof command === 'string' ? [`command = ${command}`] : []),
    ...(typeof command !== 'string' && paths.length > 0 ? [`path = ${paths.join(' | ')}`] : []),
  ];
  return parts.join(', ');
}

/** Whether that is any call of the tool: nothing of it says what it is given. */
export function isAnyCall({ scope, locations = [], changes = [] }: ConsentEvent): boolean {
  const hasPaths = Array.isArray(scope.paths) && scope.paths.length > 0;
  return typeof scope.command !== 'string' && !hasPaths && locations.length + changes.length === 0;
}
