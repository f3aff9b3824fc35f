import type { Json } from '@concerto/base';
import type { IrDecorator } from '@concerto/ir';
import type { Expression } from '../syntax/expression.ts';
import type { Decorator } from '../syntax/item.ts';
import { constantJson } from './constant-json.ts';
import type { ModuleBuilder } from './module-builder.ts';

export function irDecorators(builder: ModuleBuilder, decorators: readonly Decorator[]): IrDecorator[] {
  return decorators.map((decorator) => ({
    name: decorator.name.text,
    args: decorator.arguments.filter((arg) => arg.label === undefined).map((arg) => configJson(builder, arg.value)),
    named: Object.fromEntries(
      decorator.arguments.flatMap((arg) =>
        arg.label === undefined ? [] : [[arg.label.text, configJson(builder, arg.value)]],
      ),
    ),
  }));
}

/** The first text of `@name("…")`. */
export function decoratorText(
  builder: ModuleBuilder,
  decorators: readonly Decorator[],
  name: string,
): string | undefined {
  const found = decorators.find((decorator) => decorator.name.text === name);
  const value = found?.arguments[0] && configJson(builder, found.arguments[0].value);
  return typeof value === 'string' ? value : undefined;
}

/** A value in a config block or decorator: a constant, or the bare name of something. */
export function configJson(builder: ModuleBuilder, expression: Expression): Json {
  const constant = builder.facts.constants.get(expression.id);
  if (constant !== undefined) return constantJson(constant);
  switch (expression.kind) {
    case 'ParenExpression':
      return configJson(builder, expression.expression);
    case 'StringLiteral':
    case 'IntLiteral':
    case 'FloatLiteral':
    case 'BoolLiteral':
      return expression.value;
    case 'ArrayExpression':
      return expression.elements.map((element) => configJson(builder, element));
    case 'NameExpression': {
      const resolved = builder.facts.names.get(expression.id);
      return resolved?.kind === 'resource' ? builder.resourceName(resolved.resource) : expression.name.text;
    }
    case 'PathExpression': {
      const resolved = builder.facts.names.get(expression.id);
      if (resolved?.kind === 'resource') return builder.resourceName(resolved.resource);
      return expression.path.segments.map((segment) => segment.text).join('::');
    }
    case 'CallExpression':
      // `env("NAME")` of an old `connect` block: the name, never the value.
      return expression.arguments[0] === undefined ? null : configJson(builder, expression.arguments[0].value);
    default:
      return null;
  }
}
