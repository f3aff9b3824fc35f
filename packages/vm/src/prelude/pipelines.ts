import { STEP } from '../internals/pipelines.ts';
import type { PreludeBuilder } from './define.ts';

/** `P.run(input)`: stages one after another; `@retry` runs a stage again in a fresh frame, `@timeout` ends it. */
export function definePipelines(prelude: PreludeBuilder): void {
  // A closure over a function and its arguments: what `Deadline` can run.
  prelude.define('$bound', { params: 0, registers: 4, captures: 2 }, (f) => {
    f.emit('Borrow', 2, 0);
    f.emit('Borrow', 3, 1);
    f.builtin(2, '$apply', 2, 2);
    f.emit('Return', 2);
  });
  const [STATE, STAGE, BEGUN, VALUE, ERROR, CALL] = [2, 3, 4, 5, 6, 10];
  prelude.define('PipelineRef.run', { params: 2, registers: 20 }, (f) => {
    const [loop, start, limited, end, after, caught] = [
      f.label(),
      f.label(),
      f.label(),
      f.label(),
      f.label(),
      f.label(),
    ];
    const [sleep, fail, done] = [f.label(), f.label(), f.label()];
    f.emit('Borrow', CALL, 0);
    f.emit('Borrow', CALL + 1, 1);
    f.builtin(CALL + 2, 'std::time::now_ms', CALL + 3, 0);
    f.builtin(STATE, '$pipeline_begin', CALL, 3);
    f.place(loop);
    f.builtin(BEGUN, 'std::time::now_ms', CALL, 0);
    f.place(start);
    f.emit('Borrow', CALL, STATE);
    f.builtin(STAGE, '$pipeline_stage', CALL, 1);
    f.builtin(CALL, '$is_nil', STAGE, 1);
    f.emit('JumpIf', CALL, done);
    f.emit('GetItem', CALL, STAGE, 0);
    f.emit('GetItem', CALL + 1, STAGE, 1);
    f.emit('GetItem', CALL + 2, STAGE, 2);
    f.builtin(CALL + 3, '$is_nil', CALL + 2, 1);
    f.emit('JumpIfNot', CALL + 3, limited);
    f.builtin(VALUE, '$apply', CALL, 2);
    f.emit('Jump', after);
    f.place(limited);
    f.closure(CALL + 3, '$bound', CALL);
    f.emit('Deadline', VALUE, CALL + 3, CALL + 2);
    f.place(end);
    f.place(after);
    f.builtin(CALL + 2, 'std::time::now_ms', CALL, 0);
    f.emit('Sub', CALL + 2, CALL + 2, BEGUN);
    f.emit('Borrow', CALL, STATE);
    f.emit('Borrow', CALL + 1, VALUE);
    f.builtin(VALUE, '$pipeline_after', CALL, 3);
    f.emit('JumpIfEqInt', VALUE, STEP.failed, fail);
    f.emit('JumpIfEqInt', VALUE, STEP.sleep, sleep);
    f.emit('Jump', loop);
    f.place(sleep);
    f.emit('Borrow', CALL, STATE);
    f.builtin(CALL, '$pipeline_delay', CALL, 1);
    f.builtin(CALL, 'std::time::sleep', CALL, 1);
    f.emit('Jump', loop);
    f.place(caught);
    f.emit('MakeErr', VALUE, ERROR);
    f.emit('Jump', after);
    f.place(fail);
    f.emit('Borrow', CALL, STATE);
    f.builtin(VALUE, '$pipeline_result', CALL, 1);
    f.emit('Return', VALUE);
    f.place(done);
    f.emit('Borrow', CALL, STATE);
    f.builtin(CALL + 1, 'std::time::now_ms', CALL + 2, 0);
    f.builtin(VALUE, '$pipeline_end', CALL, 2);
    f.emit('Return', VALUE);
    f.handler(start, end, caught, ERROR);
  });
}
