import { compilePattern } from '@concerto/base';
import type { Decorator, DecoratorArgument, Item, ItemNode } from '../syntax/item.ts';
import { constantValue, outerBody } from './check-constant.ts';
import { checkPermission, PERMISSIONS, type PermissionPlace } from './check-permission.ts';
import { CODE } from './codes.ts';
import type { Context } from './context.ts';
import type { ConstantValue } from './facts.ts';
import type { ModuleScope } from './module-scope.ts';
import { didYouMean } from './resolve-path.ts';

/** What a value of a decorator is: of the texts in a list, one. */
type ValueKind = 'text' | 'number' | readonly string[];

/** What it takes by a label, and what without one. */
interface DecoratorRule {
  readonly labels: Readonly<Record<string, ValueKind>>;
  readonly values: readonly ValueKind[];
}

const NOTHING: DecoratorRule = { labels: {}, values: [] };
const BACKOFF = ['none', 'linear', 'exponential'] as const;

const DECORATORS: Readonly<Record<string, DecoratorRule>> = {
  test: { labels: { description: 'text', name: 'text' }, values: ['text'] },
  supervisor: NOTHING,
  expect_fail: { labels: { message: 'text' }, values: ['text'] },
  describe: { labels: { text: 'text', description: 'text' }, values: ['text'] },
  param: { labels: { name: 'text', text: 'text', description: 'text' }, values: ['text', 'text'] },
  retry: {
    labels: { max: 'number', backoff: BACKOFF, delay_ms: 'number', max_delay_ms: 'number', base_ms: 'number' },
    values: ['number', BACKOFF],
  },
  // Its word is checked with its place.
  permission: { labels: {}, values: [PERMISSIONS] },
  timeout: { labels: { seconds: 'number', ms: 'number' }, values: ['number'] },
  log: { labels: { channel: 'text', level: 'text' }, values: ['text'] },
  cache: { labels: { ttl: 'number', seconds: 'number' }, values: ['number'] },
  partial: NOTHING,
  coerce: NOTHING,
  strict: NOTHING,
  validate: {
    labels: {
      min: 'number',
      max: 'number',
      pattern: 'text',
      min_length: 'number',
      max_length: 'number',
      message: 'text',
    },
    values: [],
  },
  deprecated: { labels: { message: 'text', since: 'text' }, values: ['text'] },
};

export const DECORATOR_NAMES: readonly string[] = Object.keys(DECORATORS);

type DecoratedNode = ItemNode & { readonly kind: string };

/** Where decorators that change how something runs do so. */
const WORKS_ON: Readonly<Record<string, { readonly kinds: readonly string[]; readonly what: string }>> = {
  test: { kinds: ['FunctionItem'], what: 'functions outside a type' },
  supervisor: { kinds: ['FunctionItem'], what: 'functions outside a type' },
  retry: { kinds: ['ModelItem', 'FunctionStage', 'ValueStage'], what: 'models and stages of pipelines' },
  timeout: { kinds: ['ModelItem', 'FunctionStage', 'ValueStage'], what: 'models and stages of pipelines' },
  log: { kinds: ['ModelItem'], what: 'models' },
  cache: { kinds: ['ModelItem'], what: 'models' },
  partial: { kinds: ['SchemaItem'], what: 'schemas' },
  coerce: { kinds: ['SchemaItem'], what: 'schemas' },
  strict: { kinds: ['SchemaItem'], what: 'schemas' },
  validate: { kinds: ['FieldDeclaration'], what: 'fields of schemas and structs' },
};

interface Place {
  readonly kind: string;
  readonly permission: PermissionPlace;
}

/** Unknown decorators and unknown labels are mistakes; values must be constant. */
function checkDecorators(
  cx: Context,
  module: ModuleScope,
  node: DecoratedNode,
  place: Place = { kind: node.kind, permission: 'other' },
): void {
  const names = new Set<string>();
  for (const decorator of node.decorators) {
    const name = decorator.name.text;
    names.add(name);
    checkDecorator(cx, module, decorator);
    const works = Object.hasOwn(WORKS_ON, name) ? WORKS_ON[name] : undefined;
    if (works === undefined || works.kinds.includes(place.kind)) continue;
    cx.report.warning(CODE.decoratorPlace, decorator.span, `\`@${name}\` does nothing here`, {
      help: `it is for ${works.what}`,
    });
  }
  checkPermission(cx, node.decorators, place.permission);
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
    const { label } = argument;
    const kind = label === undefined ? rule.values[values++] : ownKind(rule, label.text);
    if (kind !== undefined) {
      if (name !== 'permission') checkValue(cx, { argument, value, kind, decorator: name });
    } else if (label !== undefined) {
      cx.report.error(CODE.decoratorArgument, label.span, `\`@${name}\` has no argument \`${label.text}\``, {
        help: didYouMean(label.text, Object.keys(rule.labels)),
      });
    }
  }
  if (rule !== undefined && values > rule.values.length) {
    cx.report.error(CODE.decoratorArgument, decorator.span, `\`@${name}\` takes fewer arguments`);
  }
}

function ownKind({ labels }: DecoratorRule, label: string): ValueKind | undefined {
  return Object.hasOwn(labels, label) ? labels[label] : undefined;
}

interface DecoratorValue {
  readonly argument: DecoratorArgument;
  readonly value: ConstantValue | undefined;
  readonly kind: ValueKind;
  readonly decorator: string;
}

/** One of the wrong kind would be passed over when the program runs. */
function checkValue(cx: Context, { argument, value, kind, decorator }: DecoratorValue): void {
  if (value === undefined) return;
  const label = argument.label?.text;
  const what = label === undefined ? `\`@${decorator}\`` : `\`${label}\` of \`@${decorator}\``;
  const is = label === undefined ? 'takes' : 'is';
  const { span } = argument.value;
  if (kind === 'number') {
    if (value.kind !== 'int' && value.kind !== 'float')
      cx.report.error(CODE.decoratorArgument, span, `${what} ${is} a number`);
  } else if (value.kind !== 'string') {
    cx.report.error(CODE.decoratorArgument, span, `${what} ${is} a text`);
  } else if (kind !== 'text' && !kind.includes(value.value)) {
    const choices = kind.map((choice) => `"${choice}"`).join(', ');
    cx.report.error(CODE.decoratorArgument, span, `${what} ${is} one of ${choices}`, {
      help: didYouMean(value.value, kind),
    });
  } else if (label === 'pattern') {
    const pattern = compilePattern(value.value);
    if (!pattern.ok) cx.report.error(CODE.decoratorArgument, span, `\`pattern\`: ${pattern.error}`);
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
        // Nobody runs a method for its decorator: a test in an `impl` would never be run.
        checkDecorators(cx, module, method, { kind: 'method', permission: permissionPlace(item, method) });
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
