import { compilePattern } from '@concerto/base';
import type { Decorator, DecoratorArgument, Item, ItemNode } from '../syntax/item.ts';
import { constantValue, outerBody } from './check-constant.ts';
import { checkPermission, type PermissionPlace } from './check-permission.ts';
import { CODE } from './codes.ts';
import type { Context } from './context.ts';
import type { ConstantValue } from './facts.ts';
import type { ModuleScope } from './module-scope.ts';
import { didYouMean } from './resolve-path.ts';

/** Labels a decorator takes; how many values without a label. */
interface DecoratorRule {
  readonly labels: readonly string[];
  readonly values: number;
}

const DECORATORS: Readonly<Record<string, DecoratorRule>> = {
  test: { labels: ['description', 'name'], values: 1 },
  supervisor: { labels: [], values: 0 },
  expect_fail: { labels: ['message'], values: 1 },
  describe: { labels: ['text', 'description'], values: 1 },
  param: { labels: ['name', 'text', 'description'], values: 2 },
  retry: { labels: ['max', 'backoff', 'delay_ms', 'max_delay_ms', 'base_ms'], values: 1 },
  permission: { labels: [], values: 1 },
  timeout: { labels: ['seconds', 'ms'], values: 1 },
  log: { labels: ['channel', 'level'], values: 1 },
  cache: { labels: ['ttl', 'seconds'], values: 1 },
  partial: { labels: [], values: 0 },
  coerce: { labels: [], values: 0 },
  strict: { labels: [], values: 0 },
  validate: { labels: ['min', 'max', 'pattern', 'min_length', 'max_length', 'message'], values: 0 },
  deprecated: { labels: ['message', 'since'], values: 1 },
};

export const DECORATOR_NAMES: readonly string[] = Object.keys(DECORATORS);

type DecoratedNode = ItemNode & { readonly kind: string };

/** Where decorators that change how something runs do so. */
const WORKS_ON: Readonly<Record<string, { readonly kinds: readonly string[]; readonly what: string }>> = {
  supervisor: { kinds: ['FunctionItem'], what: 'functions' },
  retry: { kinds: ['ModelItem', 'FunctionStage', 'ValueStage'], what: 'models and stages of pipelines' },
  timeout: { kinds: ['ModelItem', 'FunctionStage', 'ValueStage'], what: 'models and stages of pipelines' },
  log: { kinds: ['ModelItem'], what: 'models' },
  cache: { kinds: ['ModelItem'], what: 'models' },
  partial: { kinds: ['SchemaItem'], what: 'schemas' },
  coerce: { kinds: ['SchemaItem'], what: 'schemas' },
  strict: { kinds: ['SchemaItem'], what: 'schemas' },
  validate: { kinds: ['FieldDeclaration'], what: 'fields of schemas and structs' },
};

/** Unknown decorators and unknown labels are mistakes; values must be constant. */
function checkDecorators(
  cx: Context,
  module: ModuleScope,
  node: DecoratedNode,
  place: PermissionPlace = 'other',
): void {
  const names = new Set<string>();
  for (const decorator of node.decorators) {
    const name = decorator.name.text;
    names.add(name);
    checkDecorator(cx, module, decorator);
    const works = Object.hasOwn(WORKS_ON, name) ? WORKS_ON[name] : undefined;
    if (works === undefined || works.kinds.includes(node.kind)) continue;
    cx.report.warning(CODE.decoratorPlace, decorator.span, `\`@${name}\` does nothing here`, {
      help: `it is for ${works.what}`,
    });
  }
  checkPermission(cx, node.decorators, place);
  const alone = names.has('expect_fail') && !names.has('test') ? node.decorators : [];
  for (const decorator of alone) {
    if (decorator.name.text !== 'expect_fail') continue;
    cx.report.error(CODE.expectFailAlone, decorator.span, '`@expect_fail` without `@test`', {
      help: 'write `@test` above it',
    });
  }
}

function checkDecorator(cx: Context, module: ModuleScope, decorator: Decorator): void {
  const name = decorator.name.text;
  const rule = Object.hasOwn(DECORATORS, name) ? DECORATORS[name] : undefined;
  if (rule === undefined && name !== '') {
    cx.report.error(CODE.unknownDecorator, decorator.name.span, `there is no decorator \`@${name}\``, {
      help: didYouMean(name, Object.keys(DECORATORS)),
    });
  }
  const body = outerBody(cx, module);
  let values = 0;
  for (const argument of decorator.arguments) {
    body.check(argument.value);
    const evaluation = cx.evaluation.current;
    const value = evaluation === undefined ? undefined : constantValue(cx, argument.value, evaluation);
    if (value !== undefined) cx.facts.constants.set(argument.value.id, value);
    if (rule === undefined) continue;
    if (name === 'validate') checkRule(cx, argument, value);
    const label = argument.label?.text;
    if (label === undefined) values++;
    else if (!rule.labels.includes(label)) {
      cx.report.error(
        CODE.decoratorArgument,
        argument.label?.span ?? argument.span,
        `\`@${name}\` has no argument \`${label}\``,
        {
          help: didYouMean(label, rule.labels),
        },
      );
    }
  }
  if (rule !== undefined && values > rule.values) {
    cx.report.error(CODE.decoratorArgument, decorator.span, `\`@${name}\` takes fewer arguments`);
  }
}

/** `@validate(min: 1, pattern: "[a-z]+")`: numbers, and texts one of which is a regular expression. */
function checkRule(cx: Context, argument: DecoratorArgument, value: ConstantValue | undefined): void {
  const label = argument.label?.text ?? '';
  const isText = label === 'pattern' || label === 'message';
  const fits = isText ? value?.kind === 'string' : value?.kind === 'int' || value?.kind === 'float';
  if (!fits) {
    const wanted = isText ? 'a text' : 'a number';
    cx.report.error(CODE.decoratorArgument, argument.value.span, `\`${label}\` of \`@validate\` is ${wanted}`);
  } else if (label === 'pattern' && value?.kind === 'string') {
    const pattern = compilePattern(value.value);
    if (!pattern.ok) cx.report.error(CODE.decoratorArgument, argument.value.span, `\`pattern\`: ${pattern.error}`);
  }
}

/** Decorators of an item and of everything inside it that can have some. */
export function checkItemDecorators(cx: Context, module: ModuleScope, item: Item): void {
  checkDecorators(cx, module, item);
  switch (item.kind) {
    case 'StructItem':
    case 'SchemaItem':
      for (const field of item.fields) checkDecorators(cx, module, field);
      return;
    case 'ToolItem':
    case 'McpItem':
    case 'ImplItem':
    case 'TraitItem':
      for (const method of item.methods) {
        checkDecorators(cx, module, method, permissionPlace(item, method));
        for (const parameter of method.parameters) {
          for (const one of parameter.decorators) checkDecorator(cx, module, one);
          checkPermission(cx, parameter.decorators, 'other');
        }
      }
      return;
    case 'PipelineItem':
      for (const stage of item.stages) checkDecorators(cx, module, stage);
      return;
    default:
      return;
  }
}

/** A model sees the methods of a tool that have `@describe`, and all that a server has. */
function permissionPlace(item: Item, method: ItemNode): PermissionPlace {
  if (item.kind === 'McpItem') return 'callable';
  if (item.kind !== 'ToolItem') return 'other';
  return method.decorators.some((decorator) => decorator.name.text === 'describe') ? 'callable' : 'hidden';
}
