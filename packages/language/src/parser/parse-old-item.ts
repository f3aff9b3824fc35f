import type { TextEdit } from '../diagnostics/diagnostic.ts';
import type { Expression } from '../syntax/expression.ts';
import type { ConfigField, Decorator, Item } from '../syntax/item.ts';
import type { Name, Path } from '../syntax/node.ts';
import type { TypeExpression } from '../syntax/type-expression.ts';
import type { ItemHead } from './item-head.ts';
import { startsOldItem } from './item-start.ts';
import { normaliseAgent, reportOld } from './old-fields.ts';
import { parseConfigBlock } from './parse-config.ts';
import { parseName } from './parse-name.ts';
import { endStatement } from './parse-statement.ts';
import { parseType } from './parse-type.ts';
import type { Parser } from './parser.ts';

/** Declarations of earlier revisions, as the node of today with a warning; undefined when there is none here. */
export function parseOldItem(p: Parser, head: ItemHead): Item | undefined {
  if (!p.at('Identifier') || !startsOldItem(p)) return undefined;
  switch (p.text) {
    case 'host':
      return parseHost(p, head);
    case 'connect':
      return parseConnect(p, head);
    case 'db':
      return parseDatabase(p, head);
    default:
      return parseTest(p, head);
  }
}

function parseHost(p: Parser, head: ItemHead): Item {
  const keyword = p.tokenSpan;
  p.bump();
  const name = parseName(p, 'the name of the agent');
  const fields = parseConfigBlock(p);
  reportOld(p, keyword, '`host` is now `agent`', [{ span: keyword, text: 'agent' }]);
  const { start, ...rest } = head;
  const span = p.spanFrom(start);
  return normaliseAgent(
    p,
    { kind: 'AgentItem', id: p.newId(), span, ...rest, name, fields, oldSpelling: 'host' },
    keyword,
  );
}

function parseConnect(p: Parser, head: ItemHead): Item {
  const keyword = p.tokenSpan;
  p.bump();
  const name = parseName(p, 'the name of the connection');
  const fields = parseConfigBlock(p);
  const { start, ...rest } = head;
  const span = p.spanFrom(start);
  const lines = manifestLines(name.text, fields);
  const message = 'connections are now in the manifest';
  p.report('C0310', keyword, message, {
    severity: 'warning',
    help: `put them into \`Concerto.toml\` under \`[connections.${name.text}]\``,
    ...(lines === undefined ? {} : { fix: { title: message, edits: [{ span, text: '' }], manifestLines: lines } }),
  });
  return { kind: 'ConnectionItem', id: p.newId(), span, ...rest, name, fields, oldSpelling: 'connect' };
}

/** Only when every field is a literal or `env("NAME")`, so that nothing is lost. */
function manifestLines(name: string, fields: readonly ConfigField[]): string[] | undefined {
  const lines = ['', `[connections.${name}]`];
  for (const field of fields) {
    const variable = environmentVariable(field.value);
    if (variable !== undefined) {
      const key = field.name.text === 'api_key' ? 'api_key_env' : field.name.text;
      lines.push(`${key} = ${JSON.stringify(variable)}`);
      continue;
    }
    const literal = literalText(field.value);
    if (literal === undefined) return undefined;
    lines.push(`${field.name.text} = ${literal}`);
  }
  return lines;
}

function environmentVariable(value: Expression): string | undefined {
  if (value.kind !== 'CallExpression' || value.callee.kind !== 'NameExpression') return undefined;
  const argument = value.arguments[0]?.value;
  const isEnv = value.callee.name.text === 'env' && value.arguments.length === 1;
  return isEnv && argument?.kind === 'StringLiteral' ? argument.value : undefined;
}

function literalText(value: Expression): string | undefined {
  switch (value.kind) {
    case 'StringLiteral':
      return JSON.stringify(value.value);
    case 'IntLiteral':
    case 'FloatLiteral':
    case 'BoolLiteral':
      return String(value.value);
    case 'NameExpression':
      return JSON.stringify(value.name.text);
    default:
      return undefined;
  }
}

/** `db x: Database<K, V> = Database::new();` */
function parseDatabase(p: Parser, head: ItemHead): Item {
  const keyword = p.tokenSpan;
  p.bump();
  const name = parseName(p, 'the name of the hashmap');
  p.expect(':');
  const edits: TextEdit[] = [{ span: keyword, text: 'hashmap' }];
  const type = renameType(parseType(p), edits);
  p.expect('=', 'before the value');
  const value = renameConstructor(p.freeExpression(), edits);
  endStatement(p, 'the hashmap');
  reportOld(p, keyword, '`db` and `Database` are now `hashmap` and `HashMap`', edits);
  const { start, ...rest } = head;
  const span = p.spanFrom(start);
  return { kind: 'StoreItem', id: p.newId(), span, ...rest, store: 'hashmap', name, type, value, oldSpelling: 'db' };
}

function renameType(type: TypeExpression, edits: TextEdit[]): TypeExpression {
  return type.kind === 'NamedType' ? { ...type, path: renamePath(type.path, edits) } : type;
}

function renameConstructor(value: Expression, edits: TextEdit[]): Expression {
  if (value.kind !== 'CallExpression' || value.callee.kind !== 'PathExpression') return value;
  return { ...value, callee: { ...value.callee, path: renamePath(value.callee.path, edits) } };
}

function renamePath(path: Path, edits: TextEdit[]): Path {
  const [first, ...others] = path.segments;
  if (first === undefined || first.text !== 'Database') return path;
  edits.push({ span: first.span, text: 'HashMap' });
  return { ...path, segments: [{ ...first, text: 'HashMap' }, ...others] };
}

/** `test "description" { … }` is a function with `@test("description")`. */
function parseTest(p: Parser, head: ItemHead): Item {
  const keyword = p.tokenSpan;
  p.bump();
  const description = p.tokens.texts.get(p.position) ?? '';
  const text = p.tokenSpan;
  p.bump();
  const body = p.block();
  const written = p.file.text.slice(text.start, text.end);
  const functionName = testName(description, keyword.start);
  const span = { start: keyword.start, end: text.end };
  reportOld(p, keyword, 'a test is now a function with `@test`', [
    { span, text: `@test(${written})\nfn ${functionName}()` },
  ]);
  const name: Name = { kind: 'Name', id: p.newId(), span: keyword, text: functionName };
  const value: Expression = { kind: 'StringLiteral', id: p.newId(), span: text, value: description };
  const decorator: Decorator = {
    kind: 'Decorator',
    id: p.newId(),
    span,
    name: { kind: 'Name', id: p.newId(), span: keyword, text: 'test' },
    arguments: [{ kind: 'DecoratorArgument', id: p.newId(), span: text, label: undefined, value }],
  };
  const { start, decorators, ...rest } = head;
  return {
    kind: 'FunctionItem',
    id: p.newId(),
    span: p.spanFrom(start),
    ...rest,
    decorators: [...decorators, decorator],
    isAsync: false,
    name,
    generics: [],
    self: undefined,
    parameters: [],
    returnType: undefined,
    body,
    oldSpelling: 'test',
  };
}

/** The offset keeps two tests of one description apart. */
function testName(description: string, offset: number): string {
  const words = description
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return `test_${words === '' ? '' : `${words}_`}${offset}`;
}
