import type {
  Decorator,
  FieldDeclaration,
  FunctionItem,
  GenericParameter,
  Parameter,
  SelfParameter,
} from '../syntax/item.ts';
import { type Doc, hardline } from './doc.ts';
import type { Formatter } from './formatter.ts';

/** Each on its own line. */
export function formatDecorators(f: Formatter, decorators: readonly Decorator[]): Doc {
  return decorators.map((decorator) => [formatDecorator(f, decorator), hardline]);
}

function formatDecorator(f: Formatter, decorator: Decorator): Doc {
  const head = [f.cursor.token('@'), f.cursor.next()];
  if (!f.cursor.at('(') || f.cursor.start >= decorator.span.end) return head;
  const layouts = decorator.arguments.map((argument) => () => {
    const label = argument.label === undefined ? '' : [f.cursor.next(), f.cursor.token(':'), ' '];
    return [label, f.expression(argument.value)];
  });
  return [head, f.list('(', ')', layouts)];
}

/** Behind decorators and `pub`. */
export function formatFunction(f: Formatter, item: FunctionItem): Doc {
  const { cursor } = f;
  const head = [item.isAsync ? [cursor.token('async'), ' '] : '', cursor.token('fn'), ' ', cursor.next()];
  const generics = formatGenerics(f, item.generics);
  const parameters = formatParameters(f, item.parameters, item.self);
  const result = item.returnType === undefined ? '' : [' ', cursor.token('->'), ' ', f.run(item.returnType.span)];
  const body = item.body === undefined ? [cursor.drop(';'), ';'] : [' ', f.block(item.body)];
  return [head, generics, parameters, result, body];
}

export function formatGenerics(f: Formatter, generics: readonly GenericParameter[]): Doc {
  if (!f.cursor.at('<')) return '';
  const layouts = generics.map((generic) => () => {
    const name = f.cursor.next();
    const bounds = generic.bounds.map((bound, index) => [
      index === 0 ? [f.cursor.token(':'), ' '] : [' ', f.cursor.token('+'), ' '],
      f.run(bound.span),
    ]);
    return [name, bounds];
  });
  return f.list('<', '>', layouts);
}

export function formatParameters(f: Formatter, parameters: readonly Parameter[], self: SelfParameter | undefined): Doc {
  const layouts = parameters.map((parameter) => () => formatParameter(f, parameter));
  if (self !== undefined) layouts.unshift(() => f.run(self.span));
  return f.list('(', ')', layouts);
}

export function formatParameter(f: Formatter, parameter: Parameter): Doc {
  const { cursor } = f;
  return [
    parameter.decorators.map((decorator) => [formatDecorator(f, decorator), ' ']),
    cursor.next(),
    parameter.type === undefined ? '' : [cursor.token(':'), ' ', f.run(parameter.type.span)],
    parameter.defaultValue === undefined ? '' : [' ', cursor.token('='), ' ', f.expression(parameter.defaultValue)],
  ];
}

export function formatField(f: Formatter, field: FieldDeclaration): Doc {
  const { cursor } = f;
  return [
    formatDecorators(f, field.decorators),
    field.isPublic ? [cursor.token('pub'), ' '] : '',
    cursor.next(),
    field.optional ? cursor.token('?') : '',
    cursor.token(':'),
    ' ',
    f.run(field.type.span),
    field.defaultValue === undefined ? '' : [' ', cursor.token('='), ' ', f.expression(field.defaultValue)],
  ];
}
