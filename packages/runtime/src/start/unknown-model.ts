import type { Rule } from '@concerto/protocol';
import type { Catalog } from '../catalog.ts';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';

/** Of rules that somebody gives: whoever leaves something to a model must name one that can be asked. */
export function unknownModel(rules: readonly Rule[], catalog: Catalog): ServiceRefusal | undefined {
  const models = rules.flatMap(({ decide }) => (decide.startsWith('model:') ? [decide.slice('model:'.length)] : []));
  const lost = models.find((name) => catalog.find('assistant', name) === undefined);
  return lost === undefined ? undefined : refusal('invalid_rules', `there is no [assistants.${lost}] to ask`);
}
