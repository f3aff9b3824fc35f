import type { Local, ResourceRef } from '../check/facts.ts';
import type { PipelineItem, Stage } from '../syntax/item.ts';
import { fillFunction, functionFacts } from './closures.ts';
import { irDecorators } from './decorators.ts';
import type { ModuleBuilder } from './module-builder.ts';

/** A stage is a function: of the last value, or (`stage x = …`) of the input and all earlier values by name. */
export function compilePipeline(builder: ModuleBuilder, resource: ResourceRef, item: PipelineItem): void {
  const stages = item.stages.map((stage, index) => ({
    name: stage.name.text,
    form: stage.kind === 'FunctionStage' ? ('chained' as const) : ('named' as const),
    function: compileStage(builder, { resource, item, stage, index }),
    decorators: irDecorators(builder, stage.decorators),
  }));
  builder.module.pipelines.push({ name: builder.resourceName(resource), stages });
}

interface StagePlace {
  readonly resource: ResourceRef;
  readonly item: PipelineItem;
  readonly stage: Stage;
  readonly index: number;
}

function compileStage(builder: ModuleBuilder, { resource, item, stage, index }: StagePlace): number {
  const place = builder.reserveFunction();
  const facts = functionFacts(builder, stage.id);
  const name = `${resource.path}::${stage.name.text}`;
  const { file } = resource;
  if (stage.kind === 'FunctionStage') {
    fillFunction(builder, place, { name, file, parameters: stage.parameters, body: stage.body, facts });
    return place;
  }
  const input = item.parameter && builder.facts.locals.get(item.parameter.id);
  const earlier = item.stages.slice(0, index).map((before): Local | undefined => builder.facts.locals.get(before.id));
  fillFunction(builder, place, { name, file, parameters: [], hidden: [input, ...earlier], body: stage.value, facts });
  return place;
}
