import { assert, unreachable } from '@concerto/base';
import type { LetStatement, MockStatement, Statement } from '../syntax/statement.ts';
import { directTarget } from './binding.ts';
import { loadText } from './constants.ts';
import { effect, operand, temporary, value } from './evaluate.ts';
import { type Frame, livesInCell } from './frame.ts';
import { loadResource, loadSession } from './names.ts';
import { bindOrRaise } from './patterns.ts';
import { raiseWhenErr } from './throwing.ts';

export function compileStatement(frame: Frame, statement: Statement): void {
  switch (statement.kind) {
    case 'LetStatement':
      return compileLet(frame, statement);
    case 'ExpressionStatement':
      if (!frame.facts.raisedWhenErr.has(statement.id)) return effect(frame, statement.expression);
      return frame.scoped(() => {
        const dropped = temporary(frame, statement.expression);
        frame.at(statement.expression);
        raiseWhenErr(frame, dropped);
      });
    case 'MockStatement':
      return compileMock(frame, statement);
    case 'ItemStatement':
      // Functions and types inside a block are compiled with all others; constants are inlined where they are used.
      return;
    default:
      return unreachable(statement);
  }
}

/** The variable's register outlives the statement; whatever its value needed on the way does not. */
function compileLet(frame: Frame, statement: LetStatement): void {
  const { pattern, initializer } = statement;
  if (initializer === undefined) return declareEmpty(frame, statement);
  const direct = directTarget(frame, pattern);
  if (direct !== undefined) return value(frame, initializer, direct);
  if (pattern.kind === 'WildcardPattern') return effect(frame, initializer);
  const source = pattern.kind === 'BindingPattern' ? temporary(frame, initializer) : operand(frame, initializer);
  return bindOrRaise(frame, pattern, source);
}

function declareEmpty(frame: Frame, statement: LetStatement): void {
  const { pattern } = statement;
  if (pattern.kind !== 'BindingPattern') return;
  const resolved = frame.facts.patterns.get(pattern.id);
  assert(resolved?.kind === 'binding', 'a let binds a name');
  const empty = frame.reserve();
  frame.emit('LoadNil', empty);
  if (!('owner' in resolved.local)) {
    frame.emit('StoreGlobal', frame.builder.variable(resolved.local), empty);
  } else if (livesInCell(resolved.local)) {
    frame.emit('NewCell', empty, empty);
    frame.bind(resolved.local, { kind: 'cell', register: empty });
  } else frame.bind(resolved.local, { kind: 'register', register: empty });
}

/** `mock Model { response: … }` */
function compileMock(frame: Frame, statement: MockStatement): void {
  const resolved = frame.facts.names.get(statement.id);
  assert(resolved?.kind === 'resource' || resolved?.kind === 'session', 'a mock names a model, an agent or `Session`');
  frame.scoped(() => {
    const window = frame.reserve(2);
    if (resolved.kind === 'session') loadSession(frame, window);
    else loadResource(frame, resolved.resource, window);
    frame.scoped(() => {
      const first = frame.reserve(statement.fields.length * 2);
      statement.fields.forEach((field, index) => {
        loadText(frame, field.name.text, first + 2 * index);
        value(frame, field.value, first + 2 * index + 1);
      });
      frame.emit('MakeMap', window + 1, first, statement.fields.length);
    });
    frame.at(statement);
    frame.emit('CallBuiltin', window, frame.builder.builtin('$mock'), window, 2);
  });
}
