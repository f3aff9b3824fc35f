import type { PipelineItem, Stage } from '../syntax/item.ts';
import type { Doc } from './doc.ts';
import { formatDecorators, formatParameter, formatParameters } from './format-function.ts';
import type { Formatter } from './formatter.ts';

export function formatPipeline(f: Formatter, item: PipelineItem): Doc {
  const { cursor } = f;
  const head = [cursor.token('pipeline'), ' ', cursor.next()];
  const { parameter } = item;
  const layouts = parameter === undefined ? [] : [() => formatParameter(f, parameter)];
  const input = cursor.at('(') ? f.list('(', ')', layouts) : '';
  const result = item.returnType === undefined ? '' : [' ', cursor.token('->'), ' ', f.run(item.returnType.span)];
  const members = item.stages.map((stage) => ({ comma: false, layout: () => formatStage(f, stage) }));
  return [head, input, result, ' ', f.braces(members, { padding: ' ', forceBreak: true })];
}

function formatStage(f: Formatter, stage: Stage): Doc {
  const { cursor } = f;
  const head = [
    formatDecorators(f, stage.decorators),
    stage.isPublic ? [cursor.token('pub'), ' '] : '',
    cursor.token('stage'),
    ' ',
    cursor.next(),
  ];
  if (stage.kind === 'ValueStage') {
    return [head, ' ', cursor.token('='), ' ', f.expression(stage.value), cursor.token(';')];
  }
  const parameters = formatParameters(f, stage.parameters, undefined);
  const result = stage.returnType === undefined ? '' : [' ', cursor.token('->'), ' ', f.run(stage.returnType.span)];
  return [head, parameters, result, ' ', f.block(stage.body)];
}
