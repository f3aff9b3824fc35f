import { assert } from '@concerto/base';
import type { CatchClause, PropagateExpression, ThrowExpression, TryExpression } from '../syntax/expression.ts';
import { bindVariable } from './binding.ts';
import { into, operand, temporary } from './evaluate.ts';
import type { Frame } from './frame.ts';
import { propagateRegister, throwTo } from './throwing.ts';

export function compileThrow(frame: Frame, expression: ThrowExpression): void {
  frame.scoped(() => {
    const error = temporary(frame, expression.value);
    frame.at(expression);
    throwTo(frame, error);
  });
}

/** `e?` */
export function compilePropagate(frame: Frame, expression: PropagateExpression, dst: number): void {
  frame.scoped(() => {
    const source = operand(frame, expression.operand);
    propagateRegister(frame, expression, { source, dst });
  });
}

export function compileTry(frame: Frame, expression: TryExpression, dst: number): void {
  frame.scoped(() => {
    const register = frame.reserve(2);
    const [start, end, target, done] = [frame.label(), frame.label(), frame.label(), frame.label()];
    frame.tries.push({ register, target });
    frame.place(start);
    into(frame, expression.body, dst);
    if (expression.catches.length === 0) frame.emit('MakeOk', dst, dst);
    frame.place(end);
    frame.tries.pop();
    frame.jump(done);
    frame.place(target);
    if (expression.catches.length === 0) frame.emit('MakeErr', dst, register);
    else {
      for (const clause of expression.catches) compileCatch(frame, clause, { register, dst, done });
      if (!expression.catches.some((clause) => frame.facts.catches.get(clause.id)?.kind === 'all')) {
        passOn(frame, expression, register);
      }
    }
    frame.place(done);
    frame.assembler.handler(start, end, target, register);
  });
}

interface CatchPlace {
  readonly register: number;
  readonly dst: number;
  readonly done: ReturnType<Frame['label']>;
}

function compileCatch(frame: Frame, clause: CatchClause, { register, dst, done }: CatchPlace): void {
  const next = frame.label();
  const test = frame.facts.catches.get(clause.id);
  assert(test !== undefined, 'every catch is resolved');
  switch (test.kind) {
    case 'all':
      break;
    case 'error':
      frame.emit('JumpIfNotType', register, frame.builder.type('Error'), next);
      break;
    case 'type': {
      const declared = frame.builder.declaredType(test.path);
      const name = declared === undefined ? test.name : frame.builder.typeName(declared);
      frame.emit('JumpIfNotType', register, frame.builder.type(name), next);
      break;
    }
    case 'variant': {
      const { variant } = test;
      frame.emit('JumpIfNotVariant', register, frame.builder.enum(variant.enum), variant.index, next);
      break;
    }
  }
  frame.scoped(() => {
    const local = frame.facts.locals.get(clause.id);
    if (local !== undefined) bindVariable(frame, local, register);
    into(frame, clause.body, dst);
  });
  frame.jump(done);
  frame.place(next);
}

/** No clause fits: a fault is raised again, a thrown error goes on as if there were no `try`. */
function passOn(frame: Frame, expression: TryExpression, register: number): void {
  const thrown = frame.label();
  frame.at(expression);
  frame.emit('JumpIfNot', register + 1, thrown);
  frame.emit('Raise', register);
  frame.place(thrown);
  throwTo(frame, register);
}
