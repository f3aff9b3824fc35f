import { assert } from '@concerto/base';
import { type IrPipeline, parseType } from '@concerto/ir';
import { systemEvent } from '../builtins/functions.ts';
import { share } from '../copy-on-write.ts';
import { display } from '../display.ts';
import { errorValue, fault } from '../fault.ts';
import type { Native, Vm } from '../machine.ts';
import { conform } from '../schema.ts';
import { array, errValue, okValue, record, type Value } from '../value.ts';
import { retryPolicy, timeoutMs } from './decorators.ts';
import { targetOf } from './model-target.ts';
import { get, items, number, type State, set, stateOf, textOf } from './state.ts';

/** After a stage: the next one, the same again, the same after a pause, or the end. */
export const STEP = { next: 0, again: 1, sleep: 2, failed: 3 } as const;

function pipelineOf(vm: Vm, name: string): IrPipeline {
  const pipeline = vm.program.module.pipelines.find((candidate) => candidate.name === name);
  assert(pipeline !== undefined, `a pipeline called ${name}`);
  return pipeline;
}

/** pipeline, input, now → state. */
const begin: Native = (stack, at, _count, vm) => {
  const pipeline = pipelineOf(vm, targetOf(stack[at]).ref.name);
  systemEvent(vm, 'pipeline:start', record({ name: pipeline.name, stages: pipeline.stages.length }));
  const input = share(stack[at + 1] ?? null);
  return record({
    pipeline: pipeline.name,
    input,
    value: input,
    values: array([]),
    stage: 0,
    attempt: 1,
    delay: 0,
    begun: stack[at + 2] ?? 0,
    result: null,
  });
};

/** state → [closure, arguments, milliseconds or nil] of the stage to run, nil at the end. */
const stage: Native = (stack, at, _count, vm) => {
  const state = stateOf(stack[at]);
  const pipeline = pipelineOf(vm, textOf(state, 'pipeline'));
  const current = pipeline.stages[number(state, 'stage')];
  if (current === undefined) return null;
  if (number(state, 'attempt') === 1) {
    systemEvent(vm, 'pipeline:stage_start', record({ pipeline: pipeline.name, stage: current.name }));
  }
  const target = vm.program.unit.functions[current.function];
  assert(target !== undefined, 'a stage the validator has checked');
  const first = number(state, 'stage') === 0;
  if (first) set(state, 'input', fitting(vm, get(state, 'input'), pipeline.input));
  const value = first ? get(state, 'input') : get(state, 'value');
  const args =
    current.form === 'chained'
      ? [fitting(vm, value, current.input ?? vm.program.module.functions[current.function]?.params[0]?.type)]
      : [get(state, 'input'), ...items(state, 'values')];
  return array([
    { kind: 'closure', target, captures: [] },
    array(args.slice(0, target.params).map(share)),
    timeoutMs(current.decorators),
  ]);
};

/** The value as its declared type; a value the checker could not see (Any) may turn out not to fit. */
function fitting(vm: Vm, value: Value, type: string | undefined): Value {
  if (type === undefined) return value;
  const result = conform(vm, value, parseType(type));
  if (result.ok) return result.value;
  throw fault('TypeError', result.error.join('; '), { kind: 'contract' });
}

/** state, value or Err, milliseconds taken → a STEP. */
const after: Native = (stack, at, _count, vm) => {
  const state = stateOf(stack[at]);
  const pipeline = pipelineOf(vm, textOf(state, 'pipeline'));
  const current = pipeline.stages[number(state, 'stage')];
  assert(current !== undefined, 'the stage that has just run');
  const value = stack[at + 1];
  if (typeof value === 'object' && value !== null && value.kind === 'err')
    return failed(vm, state, pipeline, value.value);
  const inner = typeof value === 'object' && value !== null && value.kind === 'ok' ? value.value : value;
  const duration = stack[at + 2] ?? 0;
  systemEvent(
    vm,
    'pipeline:stage_complete',
    record({ pipeline: pipeline.name, stage: current.name, duration_ms: duration }),
  );
  items(state, 'values').push(share(inner ?? null));
  set(state, 'value', inner ?? null);
  set(state, 'stage', number(state, 'stage') + 1);
  set(state, 'attempt', 1);
  return STEP.next;
};

function failed(vm: Vm, state: State, pipeline: IrPipeline, error: Value): number {
  const current = pipeline.stages[number(state, 'stage')];
  assert(current !== undefined, 'the stage that has just run');
  const policy = retryPolicy(current.decorators);
  const attempt = number(state, 'attempt');
  if (attempt < policy.attempts) {
    const delay = policy.delay(attempt);
    set(state, 'attempt', attempt + 1);
    set(state, 'delay', delay);
    systemEvent(
      vm,
      'pipeline:stage_retry',
      record({ pipeline: pipeline.name, stage: current.name, attempt: attempt + 1, error: display(error) }),
    );
    return delay > 0 ? STEP.sleep : STEP.again;
  }
  systemEvent(vm, 'pipeline:error', record({ pipeline: pipeline.name, stage: current.name, error: display(error) }));
  const message = `pipeline ${pipeline.name}: stage ${current.name} failed: ${display(error)}`;
  set(state, 'result', errValue(errorValue('PipelineError', message, { kind: 'stage', source: share(error) })));
  return STEP.failed;
}

/** state, now → the pipeline's value. */
const end: Native = (stack, at, _count, vm) => {
  const state = stateOf(stack[at]);
  const now = stack[at + 1];
  const duration = typeof now === 'number' ? now - number(state, 'begun') : 0;
  systemEvent(vm, 'pipeline:complete', record({ name: textOf(state, 'pipeline'), duration_ms: duration }));
  return okValue(get(state, 'value'));
};

export const PIPELINE_INTERNALS = {
  $pipeline_begin: begin,
  $pipeline_stage: stage,
  $pipeline_after: after,
  $pipeline_end: end,
  $pipeline_delay: ((stack, at) => number(stateOf(stack[at]), 'delay')) satisfies Native,
  $pipeline_result: ((stack, at) => get(stateOf(stack[at]), 'result')) satisfies Native,
};
