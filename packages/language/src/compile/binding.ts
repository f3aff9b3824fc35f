import type { Local, ModuleVariable } from '../check/facts.ts';
import type { Pattern } from '../syntax/pattern.ts';
import { type Frame, livesInCell } from './frame.ts';

/** The register of a variable that takes the whole value as it is; undefined for every other pattern. */
export function directTarget(frame: Frame, pattern: Pattern): number | undefined {
  if (pattern.kind !== 'BindingPattern' || pattern.pattern !== undefined) return undefined;
  const resolved = frame.facts.patterns.get(pattern.id);
  if (resolved?.kind !== 'binding' || !isLocal(resolved.local) || livesInCell(resolved.local)) return undefined;
  return declareRegister(frame, resolved.local);
}

export function isLocal(variable: Local | ModuleVariable): variable is Local {
  return 'owner' in variable;
}

/** The alternatives of an or-pattern share a variable, and so its register. */
function declareRegister(frame: Frame, local: Local): number {
  if (frame.has(local) && frame.storage(local).kind === 'register' && frame.alternatives.has(local)) {
    return frame.storage(local).register;
  }
  const register = frame.reserve();
  frame.bind(local, { kind: 'register', register });
  return register;
}

/** Puts a copy of the value into a new variable. */
export function bindVariable(frame: Frame, variable: Local | ModuleVariable, register: number): void {
  if (!isLocal(variable)) {
    frame.scoped(() => {
      const copy = frame.reserve();
      frame.emit('Move', copy, register);
      frame.emit('StoreGlobal', frame.builder.variable(variable), copy);
    });
    return;
  }
  if (!livesInCell(variable)) {
    frame.emit('Move', declareRegister(frame, variable), register);
    return;
  }
  const shared = frame.alternatives.has(variable) && frame.has(variable);
  const cell = shared ? frame.storage(variable).register : frame.reserve();
  frame.scoped(() => {
    const copy = frame.reserve();
    frame.emit('Move', copy, register);
    frame.emit('NewCell', cell, copy);
  });
  frame.bind(variable, { kind: 'cell', register: cell });
}
