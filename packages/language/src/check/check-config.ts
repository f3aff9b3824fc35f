import type { Expression } from '../syntax/expression.ts';
import type { AgentItem, ConfigField, ConnectionItem, McpItem, ModelItem } from '../syntax/item.ts';
import { fitOrReport } from './body.ts';
import { constantValue, outerBody } from './check-constant.ts';
import { settle } from './check-function.ts';
import { CODE } from './codes.ts';
import type { Body, Context } from './context.ts';
import type { ModuleScope } from './module-scope.ts';
import { didYouMean } from './resolve-path.ts';
import { ANY, applied, arrayOf, FLOAT, INT, literalUnion, mapOf, STRING, type Type } from './types.ts';

/** `constant`: known when compiled. `reference`: names declared things. `external`: a word of the manifest. */
type FieldForm = 'constant' | 'reference' | 'external';

interface FieldRule {
  readonly form: FieldForm;
  readonly type: Type;
}

const constant = (type: Type): FieldRule => ({ form: 'constant', type });
const REFERENCE: FieldRule = { form: 'reference', type: ANY };
const EXTERNAL: FieldRule = { form: 'external', type: STRING };
const FORMAT = constant(literalUnion(['text', 'json']));

const MODEL_FIELDS: Readonly<Record<string, FieldRule>> = {
  provider: EXTERNAL,
  base: constant(STRING),
  temperature: constant(FLOAT),
  max_tokens: constant(INT),
  timeout: constant(FLOAT),
  system_prompt: constant(STRING),
  tools: { form: 'reference', type: arrayOf(ANY) },
  memory: REFERENCE,
  retry_policy: constant(ANY),
  top_p: constant(FLOAT),
  stop_sequences: constant(arrayOf(STRING)),
  knowledge: REFERENCE,
  output: REFERENCE,
  description: constant(STRING),
};

const AGENT_FIELDS: Readonly<Record<string, FieldRule>> = {
  connector: EXTERNAL,
  input_format: FORMAT,
  output_format: FORMAT,
  timeout: constant(FLOAT),
  idle_timeout: constant(FLOAT),
  reply_timeout: constant(FLOAT),
  plain_text: constant(literalUnion(['result', 'log', 'error'])),
  on_invalid: constant(literalUnion(['error', 'skip'])),
  instances: constant(INT),
  description: constant(STRING),
};

const MCP_FIELDS: Readonly<Record<string, FieldRule>> = {
  transport: constant(literalUnion(['stdio', 'sse', 'http'])),
  command: constant(STRING),
  args: constant(arrayOf(STRING)),
  url: constant(STRING),
  env: constant(mapOf(STRING, STRING)),
  headers: constant(mapOf(STRING, STRING)),
  timeout: constant(FLOAT),
  working_dir: constant(STRING),
  description: constant(STRING),
};

/** What can be written in each of these declarations. */
export const CONFIG_FIELDS: Readonly<Record<string, Readonly<Record<string, FieldRule>>>> = {
  ModelItem: MODEL_FIELDS,
  AgentItem: AGENT_FIELDS,
  McpItem: MCP_FIELDS,
};

/** Fields that only a model has; the parser has said what it thinks of them in an agent. */
const MODEL_ONLY = new Set(['provider', 'base', 'model', 'system_prompt', 'temperature', 'tools', 'max_tokens']);

export function checkModel(cx: Context, module: ModuleScope, item: ModelItem): void {
  checkFields(cx, module, item.fields, { rules: MODEL_FIELDS, what: `model \`${item.name.text}\`` });
  const provider = findField(item.fields, 'provider');
  if (provider === undefined) {
    cx.report.error(CODE.modelProvider, item.name.span, `model \`${item.name.text}\` needs a \`provider\``, {
      help: 'name a connection of Concerto.toml: `provider: openai`',
    });
    return;
  }
  const name = externalName(provider.value);
  if (name === undefined || cx.manifest === undefined) return;
  const { connections } = cx.manifest;
  if (connections.has(name) || cx.connections.has(name) || name === 'mock') return;
  cx.report.error(CODE.unknownConnection, provider.value.span, `there is no connection \`${name}\``, {
    help: didYouMean(name, connections) ?? `add \`[connections.${name}]\` to Concerto.toml`,
  });
}

export function checkAgent(cx: Context, module: ModuleScope, item: AgentItem): void {
  const connector = findField(item.fields, 'connector');
  const fields = item.fields.filter((field) => !MODEL_ONLY.has(field.name.text));
  checkFields(cx, module, fields, {
    rules: AGENT_FIELDS,
    what: `agent \`${item.name.text}\``,
    elsewhere: OF_AN_AGENTS_TABLE,
  });
  const name = connector === undefined ? undefined : externalName(connector.value);
  if (connector === undefined || name === undefined || cx.manifest === undefined || cx.manifest.agents.has(name))
    return;
  cx.report.warning(CODE.unknownConnector, connector.value.span, `Concerto.toml has no agent \`${name}\``, {
    help: didYouMean(name, cx.manifest.agents) ?? `add \`[agents.${name}]\` with its command`,
  });
}

export function checkMcp(cx: Context, module: ModuleScope, item: McpItem): void {
  checkFields(cx, module, item.fields, { rules: MCP_FIELDS, what: `mcp \`${item.name.text}\`` });
  const { manifest } = cx;
  const name = item.name.text;
  const hasOwn = item.fields.some((field) => field.name.text === 'command' || field.name.text === 'url');
  if (manifest === undefined || hasOwn || manifest.mcp.has(name) || name === '') return;
  cx.report.warning(CODE.unknownConnector, item.name.span, `Concerto.toml has no MCP server \`${name}\``, {
    help: didYouMean(name, manifest.mcp) ?? `add \`[mcp.${name}]\`, or give it a \`command\` or \`url\` here`,
  });
}

/** The old `connect`: its values are those of a manifest's table; `env("X")` names a variable. */
export function checkConnection(cx: Context, module: ModuleScope, item: ConnectionItem): void {
  const body = outerBody(cx, module);
  for (const field of item.fields) {
    if (field.value.kind === 'NameExpression') markExternal(body, field.value);
    else body.check(field.value);
  }
}

function findField(fields: readonly ConfigField[], name: string): ConfigField | undefined {
  return fields.find((field) => field.name.text === name);
}

/** A connection or connector is written as a bare word or as a text. */
function externalName(node: Expression): string | undefined {
  if (node.kind === 'NameExpression') return node.name.text === '' ? undefined : node.name.text;
  return node.kind === 'StringLiteral' ? node.value : undefined;
}

function markExternal(body: Body, node: Extract<Expression, { kind: 'NameExpression' }>): void {
  body.cx.facts.names.set(node.id, { kind: 'external', name: node.name.text });
}

interface FieldRules {
  readonly rules: Readonly<Record<string, FieldRule>>;
  readonly what: string;
  /** Where fields are that are not here. */
  readonly elsewhere?: ReadonlyMap<string, string>;
}

/** How an agent is started is no business of the program. */
const OF_AN_AGENTS_TABLE: ReadonlyMap<string, string> = new Map(
  ['command', 'args', 'env', 'working_dir', 'transport', 'params'].map((name) => [
    name,
    `\`${name}\` stands in Concerto.toml, in the table \`[agents.NAME]\` that \`connector\` names`,
  ]),
);

function checkFields(cx: Context, module: ModuleScope, fields: readonly ConfigField[], options: FieldRules): void {
  const body = outerBody(cx, module);
  const seen = new Map<string, ConfigField>();
  for (const field of fields) {
    const name = field.name.text;
    if (name === '') continue;
    const first = seen.get(name);
    if (first !== undefined) {
      cx.report.error(CODE.duplicateField, field.name.span, `field \`${name}\` is given twice`, {
        labels: [{ span: first.name.span, message: 'first given here' }],
      });
      continue;
    }
    seen.set(name, field);
    const rule = Object.hasOwn(options.rules, name) ? options.rules[name] : undefined;
    if (rule === undefined) {
      cx.report.error(CODE.unknownConfig, field.name.span, `${options.what} has no field \`${name}\``, {
        help: options.elsewhere?.get(name) ?? didYouMean(name, Object.keys(options.rules)),
      });
      body.check(field.value);
    } else checkField(body, field, rule);
  }
  settle(cx);
}

function checkField(body: Body, field: ConfigField, rule: FieldRule): void {
  const { cx } = body;
  const { value } = field;
  if (rule.form === 'external') {
    if (value.kind === 'NameExpression') {
      markExternal(body, value);
      return;
    }
    const type = body.check(value, STRING);
    fitOrReport(body, value, type, { type: STRING, what: `\`${field.name.text}\``, code: CODE.configValue });
    evaluateField(cx, value);
    return;
  }
  if (rule.form === 'reference') {
    const type = body.check(value, rule.type);
    if (field.name.text === 'tools') checkTools(body, value);
    if (field.name.text === 'memory') {
      const memory = cx.builtins.types.get('Memory');
      if (memory !== undefined) {
        fitOrReport(body, value, type, { type: applied(memory), what: '`memory`', code: CODE.configValue });
      }
    }
    return;
  }
  const type = body.check(value, rule.type);
  if (fitOrReport(body, value, type, { type: rule.type, what: `\`${field.name.text}\``, code: CODE.configValue })) {
    evaluateField(cx, value);
  }
}

/** `tools: [A, B]` names tools and MCP servers. */
function checkTools(body: Body, value: Expression): void {
  if (value.kind !== 'ArrayExpression') {
    if (value.kind !== 'ErrorExpression') {
      body.cx.report.error(CODE.configValue, value.span, '`tools` is an array of tools and MCP servers');
    }
    return;
  }
  for (const element of value.elements) {
    const resolved = body.cx.facts.names.get(element.id);
    if (resolved?.kind === 'resource' && (resolved.resource.kind === 'tool' || resolved.resource.kind === 'mcp'))
      continue;
    if (resolved?.kind === 'unresolved' || element.kind === 'ErrorExpression') continue;
    body.cx.report.error(CODE.configValue, element.span, 'this is not a tool or an MCP server');
  }
}

function evaluateField(cx: Context, node: Expression): void {
  const evaluation = cx.evaluation.current;
  if (evaluation === undefined) return;
  const value = constantValue(cx, node, evaluation);
  if (value !== undefined) cx.facts.constants.set(node.id, value);
}
