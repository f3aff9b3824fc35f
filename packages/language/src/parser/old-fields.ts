import type { TextEdit } from '../diagnostics/diagnostic.ts';
import type { Span } from '../source/span.ts';
import type { AgentItem, ConfigField, Item, ModelItem } from '../syntax/item.ts';
import type { Parser } from './parser.ts';

const MODEL_FIELDS = new Set(['provider', 'base', 'model', 'system_prompt', 'temperature', 'tools']);

/** In a model `model:` is the old name of `base:`. */
export function normaliseModel(p: Parser, item: ModelItem): ModelItem {
  return { ...item, fields: normaliseModelFields(p, item.fields) };
}

function normaliseModelFields(p: Parser, fields: readonly ConfigField[]): ConfigField[] {
  const base = fields.find((field) => field.name.text === 'base');
  return fields.flatMap((field) => {
    if (field.name.text !== 'model') return [field];
    if (base !== undefined) {
      p.report('C0220', field.name.span, '`model` is the old name of `base`, and both are given', {
        labels: [{ span: base.name.span, message: '`base` is given here' }],
      });
      return [];
    }
    reportOld(p, field.name.span, '`model:` is now `base:`', [{ span: field.name.span, text: 'base' }]);
    return [{ ...field, name: { ...field.name, text: 'base' }, oldSpelling: 'model-field' as const }];
  });
}

/** An agent with the fields of a model and no connector is a model of an earlier revision. */
export function normaliseAgent(p: Parser, item: AgentItem, keyword: Span): Item {
  const connector = item.fields.find((field) => field.name.text === 'connector');
  const ofModel = item.fields.find((field) => MODEL_FIELDS.has(field.name.text));
  if (connector !== undefined && ofModel !== undefined) {
    const message = `\`${ofModel.name.text}\` belongs to a model, but \`${item.name.text}\` has a \`connector\``;
    p.report('C0222', ofModel.name.span, message, {
      labels: [{ span: connector.name.span, message: 'this makes it an agent' }],
      help: 'an `agent` is an external process, a `model` a language model: declare two',
    });
    return item;
  }
  if (connector !== undefined) return item;
  if (ofModel === undefined) {
    p.report('C0223', item.name.span, `the agent \`${item.name.text}\` has no \`connector\``, {
      help: 'name its table in the manifest: `connector: "name"` for `[agents.name]`',
    });
    return item;
  }
  reportOld(p, keyword, 'a language model is declared with `model`; an `agent` is an external process', [
    { span: keyword, text: 'model' },
  ]);
  const fields = normaliseModelFields(p, item.fields);
  return { ...item, kind: 'ModelItem', fields, oldSpelling: 'agent-as-model' };
}

export function reportOld(p: Parser, span: Span, message: string, edits: readonly TextEdit[]): void {
  const first = edits[0];
  p.report('C0310', span, message, {
    severity: 'warning',
    help: '`concerto check --fix` rewrites it',
    ...(first === undefined ? {} : { fix: { title: message, edits } }),
  });
}
