import type { ConfigField, FieldDeclaration, FunctionItem, Item } from '../syntax/item.ts';
import type { ItemHead } from './item-head.ts';
import { normaliseAgent, normaliseModel } from './old-fields.ts';
import { parseConfigBlock, parseConfigField } from './parse-config.ts';
import { parseField, parseMembers } from './parse-data-item.ts';
import { parseFunction } from './parse-function.ts';
import { parseName } from './parse-name.ts';
import { parseNamedType, parseType } from './parse-type.ts';
import type { Parser } from './parser.ts';

/** At `model`, `agent`, `tool` or `mcp`. */
export function parseConfigItem(p: Parser, head: ItemHead): Item {
  const keyword = p.tokenSpan;
  const { kind } = p;
  p.bump();
  if (kind === 'tool') return parseTool(p, head);
  if (kind === 'mcp') return parseMcp(p, head);
  const name = parseName(p, `the name of the ${kind}`);
  const fields = parseConfigBlock(p);
  const { start, ...rest } = head;
  const common = { id: p.newId(), span: p.spanFrom(start), ...rest, name, fields, oldSpelling: undefined };
  if (kind === 'model') return normaliseModel(p, { kind: 'ModelItem', ...common });
  return normaliseAgent(p, { kind: 'AgentItem', ...common }, keyword);
}

type Member = ConfigField | FieldDeclaration | FunctionItem;

function parseTool(p: Parser, head: ItemHead): Item {
  const name = parseName(p, 'the name of the tool');
  const trait = p.eat('impl') && p.atName() ? parseNamedType(p) : undefined;
  const members = parseMembers(p, (own) => parseToolMember(p, own), 'a field or a method');
  const { start, ...rest } = head;
  return {
    kind: 'ToolItem',
    id: p.newId(),
    span: p.spanFrom(start),
    ...rest,
    name,
    trait,
    fields: members.filter((member) => member.kind === 'ConfigField'),
    state: members.filter((member) => member.kind === 'FieldDeclaration'),
    methods: members.filter((member) => member.kind === 'FunctionItem'),
  };
}

function parseMcp(p: Parser, head: ItemHead): Item {
  const name = parseName(p, 'the name of the server');
  const members = parseMembers(p, (own) => parseMcpMember(p, own), 'a field or a signature');
  const { start, ...rest } = head;
  return {
    kind: 'McpItem',
    id: p.newId(),
    span: p.spanFrom(start),
    ...rest,
    name,
    fields: members.filter((member) => member.kind === 'ConfigField'),
    methods: members.filter((member) => member.kind === 'FunctionItem'),
  };
}

function parseMcpMember(p: Parser, head: ItemHead): Member | undefined {
  if (p.at('fn') || p.at('async')) return parseFunction(p, head, true);
  return p.atName() ? parseSetting(p, head) : undefined;
}

function parseToolMember(p: Parser, head: ItemHead): Member | undefined {
  if (p.at('fn') || (p.at('async') && p.peek(1) === 'fn')) return parseFunction(p, head, true);
  if (!p.atName()) return undefined;
  return isStateField(p) ? parseField(p, head) : parseSetting(p, head);
}

/** A value has neither decorators nor `pub`: those are for what follows, which is then missing. */
function parseSetting(p: Parser, { start, decorators, isPublic }: ItemHead): ConfigField {
  if (decorators.length > 0 || isPublic) {
    p.report('C0100', p.spanFrom(start), 'what stands here is for a function, and a setting follows');
  }
  return parseConfigField(p);
}

/**
 * `count: Int`, `count: Int = 0` and `cache?: Map<String, Int>` hold a value for each run; `description: "…"`
 * configures the tool. A type is told from a value by what follows it, or by its capital letter.
 */
function isStateField(p: Parser): boolean {
  if (p.peek(1) === '?') return true;
  const first = p.peek(2);
  if (first === 'fn') return true;
  if (first !== 'Identifier' && first !== '(' && first !== 'String') return false;
  if (first === 'Identifier' && !isTypeName(p.textAt(p.position + 2))) return false;
  const after = p.peek(3);
  // `Mode::Fast`, `Some(1)`, `Limits { … }` are values, unless a default shows that they are types.
  const isTypeAlone = first === 'Identifier' && after !== '::' && after !== '(' && after !== '.' && after !== '{';
  return isTypeAlone || followedByDefault(p);
}

function isTypeName(text: string): boolean {
  return /^[A-Z]/.test(text) && (text.length === 1 || /[a-z]/.test(text));
}

/** Reads the type on trial; nothing of it is kept. */
function followedByDefault(p: Parser): boolean {
  const { position } = p;
  const reported = p.diagnostics.length;
  p.position += 2;
  parseType(p);
  const isField = p.at('=') && p.diagnostics.length === reported;
  p.position = position;
  p.diagnostics.length = reported;
  return isField;
}
