import { ACTION } from '../internals/models.ts';
import type { PreludeBuilder } from './define.ts';

const STATE = 5;
const ANSWER = 6;
const ACTION_REGISTER = 7;
const ERROR = 8;
const WINDOW = 10;

/** One call of a model from the prompt to its Result: turns, tools, repairs and retries. */
export function defineModels(prelude: PreludeBuilder): void {
  // target, method, type, prompt, on_chunk
  prelude.define('$model_run', { params: 5, registers: 24 }, (f) => {
    const [turn, after, sleep, tools, done] = [f.label(), f.label(), f.label(), f.label(), f.label()];
    for (let index = 0; index < 4; index++) f.emit('Move', WINDOW + index, index);
    f.builtin(STATE, '$model_begin', WINDOW, 4);
    f.place(turn);
    f.emit('Borrow', WINDOW, STATE);
    f.builtin(ANSWER, '$model_turn', WINDOW, 1);
    stream(f, after);
    f.place(after);
    f.emit('Borrow', WINDOW, STATE);
    f.emit('Borrow', WINDOW + 1, ANSWER);
    f.builtin(ACTION_REGISTER, '$model_after', WINDOW, 2);
    f.emit('JumpIfEqInt', ACTION_REGISTER, ACTION.done, done);
    f.emit('JumpIfEqInt', ACTION_REGISTER, ACTION.sleep, sleep);
    f.emit('JumpIfEqInt', ACTION_REGISTER, ACTION.tools, tools);
    f.emit('Jump', turn);
    f.place(sleep);
    f.emit('Borrow', WINDOW, STATE);
    f.builtin(WINDOW, '$model_delay', WINDOW, 1);
    f.builtin(WINDOW, 'std::time::sleep', WINDOW, 1);
    f.emit('Jump', turn);
    f.place(tools);
    runTools(f, turn);
    f.place(done);
    f.emit('Borrow', WINDOW, STATE);
    f.builtin(ANSWER, '$model_result', WINDOW, 1);
    f.emit('Return', ANSWER);
  });
  defineRows(prelude);
}

type Body = Parameters<Parameters<PreludeBuilder['define']>[2]>[0];
type Label = ReturnType<Body['label']>;

/** A streamed answer comes in pieces; each goes to on_chunk. */
function stream(f: Body, after: Label): void {
  const [next, ended, whole] = [f.label(), f.label(), f.label()];
  const CHUNK = 9;
  f.emit('Borrow', WINDOW, ANSWER);
  f.builtin(WINDOW, '$model_streams', WINDOW, 1);
  f.emit('JumpIfNot', WINDOW, whole);
  f.place(next);
  f.emit('Borrow', WINDOW, STATE);
  f.emit('Borrow', WINDOW + 1, ANSWER);
  f.builtin(CHUNK, '$model_next', WINDOW, 2);
  f.emit('Borrow', WINDOW, CHUNK);
  f.builtin(WINDOW, '$is_text', WINDOW, 1);
  f.emit('JumpIfNot', WINDOW, ended);
  f.emit('Borrow', WINDOW, 4);
  f.builtin(WINDOW, '$is_nil', WINDOW, 1);
  f.emit('JumpIf', WINDOW, next);
  f.emit('Borrow', WINDOW, CHUNK);
  f.emit('CallValue', WINDOW, 4, WINDOW, 1);
  f.emit('Jump', next);
  f.place(ended);
  f.emit('Borrow', ANSWER, CHUNK);
  f.emit('Jump', after);
  f.place(whole);
  // Not streamed (a mock): the text is one piece.
  f.emit('Borrow', WINDOW, 4);
  f.builtin(WINDOW, '$is_nil', WINDOW, 1);
  f.emit('JumpIf', WINDOW, after);
  f.emit('Borrow', WINDOW, ANSWER);
  f.builtin(WINDOW, '$model_text', WINDOW, 1);
  f.builtin(WINDOW + 1, '$is_nil', WINDOW, 1);
  f.emit('JumpIf', WINDOW + 1, after);
  f.emit('CallValue', WINDOW, 4, WINDOW, 1);
}

/** Runs the calls the model asked for, one after another, then takes the next turn. */
function runTools(f: Body, turn: Label): void {
  const [next, start, end, server, settled, caught] = [
    f.label(),
    f.label(),
    f.label(),
    f.label(),
    f.label(),
    f.label(),
  ];
  const [ITERATOR, CALL, CALLEE, VALUE] = [ACTION_REGISTER, ANSWER, WINDOW + 1, 21];
  f.emit('Borrow', WINDOW, STATE);
  f.builtin(WINDOW, '$model_calls', WINDOW, 1);
  f.emit('IterBegin', ITERATOR, WINDOW);
  f.place(next);
  f.emit('IterNext', CALL, ITERATOR, turn);
  f.place(start);
  f.emit('Borrow', WINDOW, STATE);
  f.emit('Borrow', WINDOW + 1, CALL);
  f.builtin(WINDOW, '$tool_target', WINDOW, 2);
  // Only a call that could be made is worth a person's attention.
  f.emit('Borrow', WINDOW + 1, STATE);
  f.emit('Borrow', WINDOW + 2, CALL);
  f.builtin(VALUE, '$tool_permission', WINDOW + 1, 2);
  f.emit('GetItem', CALLEE, WINDOW, 0);
  f.emit('GetItem', CALLEE + 1, WINDOW, 1);
  f.builtin(VALUE, '$is_server', CALLEE, 1);
  f.emit('JumpIf', VALUE, server);
  f.builtin(VALUE, '$apply', CALLEE, 2);
  f.emit('Jump', settled);
  f.place(server);
  f.emit('GetItem', CALLEE + 2, WINDOW, 2);
  f.builtin(VALUE, 'McpRef.call', CALLEE, 3);
  f.place(end);
  f.place(settled);
  f.emit('Borrow', WINDOW + 2, CALLEE);
  f.emit('Borrow', WINDOW, STATE);
  f.emit('Borrow', WINDOW + 1, CALL);
  f.emit('Borrow', WINDOW + 3, VALUE);
  f.builtin(WINDOW, '$tool_done', WINDOW, 4);
  f.emit('Jump', next);
  f.place(caught);
  f.emit('MakeErr', VALUE, ERROR);
  f.emit('LoadNil', CALLEE);
  f.emit('Jump', settled);
  f.handler(start, end, caught, ERROR);
}

/** The methods of a model, in terms of `$model_run`. */
function defineRows(prelude: PreludeBuilder): void {
  for (const method of ['execute', 'chat']) {
    prelude.define(`ModelRef.${method}`, { params: 2, registers: 8 }, (f) => {
      f.emit('Borrow', 2, 0);
      f.string(3, method);
      f.emit('LoadNil', 4);
      f.emit('Borrow', 5, 1);
      f.emit('LoadNil', 6);
      f.call(2, '$model_run', 2, 5);
      f.emit('Return', 2);
    });
  }
  prelude.define('ModelRef.stream', { params: 3, registers: 9 }, (f) => {
    f.emit('Borrow', 3, 0);
    f.string(4, 'stream');
    f.emit('LoadNil', 5);
    f.emit('Borrow', 6, 1);
    f.emit('Borrow', 7, 2);
    f.call(3, '$model_run', 3, 5);
    f.emit('Return', 3);
  });
  prelude.define('ModelRef.execute_with_schema', { params: 3, registers: 9 }, (f) => {
    f.emit('Borrow', 3, 0);
    f.string(4, 'execute_with_schema');
    f.emit('Borrow', 5, 1);
    f.emit('Borrow', 6, 2);
    f.emit('LoadNil', 7);
    f.call(3, '$model_run', 3, 5);
    f.emit('Return', 3);
  });
}
