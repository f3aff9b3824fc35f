import type { MockStatement } from '../syntax/statement.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import { didYouMean, lookupName } from './resolve-path.ts';
import { applied, builtinName } from './types.ts';

const MOCK_FIELDS = {
  model: ['response', 'responses', 'error', 'tool_calls'],
  session: ['script', 'id', 'status', 'usage'],
  agent: ['script', 'response', 'responses', 'error', 'result', 'capabilities', 'version'],
} as const;

/** `mock Name { … }`: only in tests, only for models, agents and `Session`. */
export function checkMock(body: Body, node: MockStatement): void {
  const { cx } = body;
  for (const field of node.fields) body.check(field.value);
  if (!isInTest(body)) {
    cx.report.error(CODE.mock, node.span, '`mock` outside a test', { help: 'write it in a function with `@test`' });
  }
  const name = node.target.text;
  if (name === '') return;
  const entry = lookupName(cx, body.module, name);
  if (entry === undefined) {
    cx.report.error(CODE.mock, node.target.span, `cannot find \`${name}\` to mock`, {
      help: didYouMean(name, mockable(body)),
    });
    return;
  }
  const { meaning } = entry;
  if (meaning.kind === 'broken') return;
  if (meaning.kind === 'type' && builtinName(applied(meaning.con)) === 'Session') {
    cx.facts.names.set(node.id, { kind: 'session' });
    checkFields(body, node, 'session');
    return;
  }
  if (meaning.kind !== 'resource' || (meaning.ref.kind !== 'model' && meaning.ref.kind !== 'agent')) {
    cx.report.error(CODE.mock, node.target.span, `\`${name}\` is not a model or an agent, so it cannot be mocked`);
    return;
  }
  cx.facts.names.set(node.id, { kind: 'resource', resource: meaning.ref });
  checkFields(body, node, meaning.ref.kind);
}

function checkFields(body: Body, node: MockStatement, kind: keyof typeof MOCK_FIELDS): void {
  const known: readonly string[] = MOCK_FIELDS[kind];
  for (const field of node.fields) {
    if (field.name.text === '' || known.includes(field.name.text)) continue;
    body.cx.report.error(
      CODE.unknownConfig,
      field.name.span,
      `a mock of a ${kind} has no field \`${field.name.text}\``,
      {
        help: didYouMean(field.name.text, known) ?? `it has ${known.map((one) => `\`${one}\``).join(', ')}`,
      },
    );
  }
}

export function isInTest(body: Body): boolean {
  for (let fn: Body['fn'] | undefined = body.fn; fn !== undefined; fn = fn.parent) if (fn.kind === 'test') return true;
  return false;
}

function mockable(body: Body): string[] {
  return body.cx.facts.resources
    .filter((resource) => resource.kind === 'model' || resource.kind === 'agent')
    .map((resource) => resource.item.name.text);
}
