import type { MatchArm, MatchExpression } from '../syntax/expression.ts';
import type { Pattern } from '../syntax/pattern.ts';
import { into, operand, temporary } from './evaluate.ts';
import type { Frame } from './frame.ts';
import { jumpIf } from './operators.ts';
import { matchPattern } from './patterns.ts';

export function compileMatch(frame: Frame, expression: MatchExpression, dst: number | undefined): void {
  frame.scoped(() => {
    // Guards run between the tests and could change a variable that is matched.
    const guarded = expression.arms.some((arm) => arm.guard !== undefined);
    const register = guarded ? temporary(frame, expression.scrutinee) : operand(frame, expression.scrutinee);
    const end = frame.label();
    const covered = expression.arms.some((arm) => arm.guard === undefined && isCatchAll(frame, arm.pattern));
    for (const arm of expression.arms) {
      const next = frame.label();
      frame.scoped(() => compileArm(frame, arm, { register, next, dst }));
      frame.jump(end);
      frame.place(next);
    }
    if (!covered) {
      frame.at(expression);
      frame.emit('RaiseMatch', register);
    }
    frame.place(end);
  });
}

interface ArmPlace {
  readonly register: number;
  readonly next: ReturnType<Frame['label']>;
  readonly dst: number | undefined;
}

function compileArm(frame: Frame, arm: MatchArm, { register, next, dst }: ArmPlace): void {
  matchPattern(frame, arm.pattern, register, next);
  if (arm.guard !== undefined) jumpIf(frame, arm.guard, false, next);
  into(frame, arm.body, dst);
}

function isCatchAll(frame: Frame, pattern: Pattern): boolean {
  if (pattern.kind === 'WildcardPattern') return true;
  if (pattern.kind === 'OrPattern') return pattern.alternatives.some((part) => isCatchAll(frame, part));
  if (pattern.kind !== 'BindingPattern') return false;
  if (frame.facts.patterns.get(pattern.id)?.kind !== 'binding') return false;
  return pattern.pattern === undefined || isCatchAll(frame, pattern.pattern);
}
