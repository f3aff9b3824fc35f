import type { Label } from '@concerto/ir';
import { LISTEN_SESSION, LISTEN_STATE } from '../group.ts';
import { ROUTE } from '../internals/agents.ts';
import type { Body, PreludeBuilder } from './define.ts';

const HANDLERS = 3;
const SESSION = LISTEN_SESSION;
const STATE = LISTEN_STATE;
const MESSAGE = 6;
const INDEX = 7;
/** Set by `break v` in a handler, whose value is then in the register before. */
const BROKEN = MESSAGE + 1;
const ERROR = 8;
const WINDOW = 10;

/** How many handlers of one `listen` run beside it; the message for one more waits, and those behind it. */
const PARALLEL_HANDLERS = 16;

/** `listen`, `execute` on agents, and the methods of builders, which may be of a model or of an agent. */
export function defineAgents(prelude: PreludeBuilder): void {
  defineBeside(prelude);
  // target, prompt, listen index, handlers; the session's id is in a register that `cancelFiber` knows.
  prelude.define('$listen', { params: 4, registers: 20 }, (f) => {
    f.emit('LoadNil', WINDOW + 2);
    session(f);
  });
  // target, type, prompt: no handlers
  prelude.define('$agent_run', { params: 3, registers: 20 }, (f) => {
    f.emit('Borrow', WINDOW + 2, 1);
    f.emit('Borrow', 1, 2);
    f.emit('LoadInt', 2, -1);
    f.emit('MakeArray', HANDLERS, HANDLERS, 0);
    session(f);
  });
  defineRows(prelude);
}

/** Sends the prompt, then takes messages until one ends the session. `WINDOW + 2` holds the type of the result. */
function session(f: Body): void {
  const [opened, loop, end, start, caught] = [f.label(), f.label(), f.label(), f.label(), f.label()];
  const [finished, routed, beside, settle, scripted] = [f.label(), f.label(), f.label(), f.label(), f.label()];
  const broken = f.label();
  f.emit('LoadNil', SESSION);
  f.emit('Borrow', WINDOW, 0);
  f.emit('Borrow', WINDOW + 1, 2);
  f.emit('Borrow', WINDOW + 3, 1);
  f.builtin(STATE, '$agent_begin', WINDOW, 4);
  f.emit('Borrow', WINDOW, STATE);
  f.builtin(MESSAGE, '$agent_open', WINDOW, 1);
  f.emit('JumpIfNotErr', MESSAGE, opened);
  f.emit('Jump', routed);
  f.place(opened);
  f.emit('Borrow', SESSION, MESSAGE);
  f.emit('Borrow', WINDOW + 1, MESSAGE);
  f.builtin(INDEX, '$listen_started', WINDOW, 2);
  f.place(loop);
  f.emit('Borrow', WINDOW, STATE);
  f.builtin(MESSAGE, '$agent_next', WINDOW, 1);
  f.place(routed);
  f.emit('Borrow', WINDOW, STATE);
  f.emit('Borrow', WINDOW + 1, MESSAGE);
  f.builtin(INDEX, '$listen_route', WINDOW, 2);
  f.emit('JumpIfEqInt', INDEX, ROUTE.again, loop);
  f.emit('JumpIfEqInt', INDEX, ROUTE.finished, finished);
  f.emit('JumpIfEqInt', INDEX, ROUTE.beside, beside);
  f.emit('JumpIfEqInt', INDEX, ROUTE.settle, settle);
  f.emit('JumpIfEqInt', INDEX, ROUTE.scripted, scripted);
  f.emit('Borrow', WINDOW + 1, HANDLERS);
  f.emit('Borrow', WINDOW + 2, INDEX);
  f.builtin(WINDOW, '$listen_call', WINDOW, 3);
  f.emit('GetItem', WINDOW + 1, WINDOW, 0);
  f.emit('GetItem', WINDOW + 2, WINDOW, 1);
  f.emit('LoadFalse', BROKEN);
  f.place(start);
  f.builtin(MESSAGE, '$apply', WINDOW + 1, 2);
  f.place(end);
  f.emit('JumpIf', BROKEN, broken);
  f.emit('Borrow', WINDOW, STATE);
  f.emit('Borrow', WINDOW + 1, MESSAGE);
  f.builtin(INDEX, '$listen_replied', WINDOW, 2);
  f.emit('JumpIfEqInt', INDEX, ROUTE.again, loop);
  f.emit('Jump', finished);
  f.place(caught);
  f.emit('Borrow', WINDOW, STATE);
  f.emit('Borrow', WINDOW + 1, ERROR);
  f.builtin(INDEX, '$listen_failed', WINDOW, 2);
  f.emit('JumpIfEqInt', INDEX, ROUTE.again, loop);
  f.place(finished);
  f.builtin(INDEX, '$tasks_cancel', WINDOW, 0);
  f.emit('LoadNil', SESSION);
  f.emit('Borrow', WINDOW, STATE);
  f.builtin(MESSAGE, '$agent_result', WINDOW, 1);
  f.emit('Return', MESSAGE);
  f.place(broken);
  f.emit('MakeOk', MESSAGE, MESSAGE);
  f.emit('Jump', routed);
  handleBeside(f, beside, loop);
  settleTasks(f, settle, routed);
  callScript(f, scripted, { loop, routed });
  f.handler(start, end, caught, ERROR);
  // Covers nothing: where `interrupt` goes on with what ended the session.
  f.handler(routed, routed, routed, MESSAGE);
}

/** The handler runs as a task; the next message is taken when it first waits. */
function handleBeside(f: Body, beside: Label, loop: Label): void {
  f.place(beside);
  f.emit('LoadInt', WINDOW, PARALLEL_HANDLERS - 1);
  f.builtin(INDEX, '$tasks_wait', WINDOW, 1);
  f.emit('Borrow', WINDOW, STATE);
  f.emit('Borrow', WINDOW + 1, HANDLERS);
  f.builtin(WINDOW, '$listen_task', WINDOW, 2);
  f.builtin(INDEX, '$task_start', WINDOW, 1);
  f.emit('Jump', loop);
}

/** Before the session ends. What the agent said at its end waits for the handlers; after a failure nobody needs them. */
function settleTasks(f: Body, settle: Label, routed: Label): void {
  const drain = f.label();
  f.place(settle);
  f.emit('JumpIfNotErr', MESSAGE, drain);
  f.builtin(INDEX, '$tasks_cancel', WINDOW, 0);
  f.emit('Jump', routed);
  f.place(drain);
  f.emit('LoadInt', WINDOW, 0);
  f.builtin(INDEX, '$tasks_wait', WINDOW, 1);
  f.emit('Jump', routed);
}

/** A mock whose script, or the message that comes next, is a function. What it raises is no failure of the agent. */
function callScript(
  f: Body,
  scripted: Label,
  { loop, routed }: { readonly loop: Label; readonly routed: Label },
): void {
  f.place(scripted);
  f.builtin(WINDOW + 2, '$script_arguments', WINDOW, 2);
  f.builtin(WINDOW + 1, '$apply', WINDOW + 1, 2);
  f.emit('Borrow', WINDOW, STATE);
  f.builtin(MESSAGE, '$script_given', WINDOW, 2);
  f.builtin(INDEX, '$is_nil', MESSAGE, 1);
  f.emit('JumpIf', INDEX, loop);
  f.emit('Jump', routed);
}

/**
 * Captures: the state of one message, the handler, its arguments. Gives Err(AgentError) when the handler fails, and Ok(v)
 * when it ends the session by `break v`.
 */
function defineBeside(prelude: PreludeBuilder): void {
  prelude.define('$listen_beside', { params: 0, captures: 3, registers: 12 }, (f) => {
    const [start, end, caught, broken] = [f.label(), f.label(), f.label(), f.label()];
    f.emit('Borrow', 6, 1);
    f.emit('Borrow', 7, 2);
    f.emit('LoadFalse', 5);
    f.place(start);
    f.builtin(4, '$apply', 6, 2);
    f.emit('JumpIf', 5, broken);
    f.emit('Borrow', 6, 0);
    f.emit('Borrow', 7, 4);
    f.builtin(4, '$listen_replied', 6, 2);
    f.place(end);
    f.emit('ReturnNil');
    f.place(caught);
    f.emit('Borrow', 6, 0);
    f.emit('Borrow', 7, 4);
    f.builtin(4, '$listen_broken', 6, 2);
    f.emit('Return', 4);
    f.place(broken);
    f.emit('MakeOk', 4, 4);
    f.emit('Return', 4);
    f.handler(start, end, caught, 4);
  });
}

function defineRows(prelude: PreludeBuilder): void {
  prelude.define('AgentRef.execute', { params: 2, registers: 6 }, (f) => {
    f.emit('Borrow', 2, 0);
    f.emit('LoadNil', 3);
    f.emit('Borrow', 4, 1);
    f.call(2, '$agent_run', 2, 3);
    f.emit('Return', 2);
  });
  prelude.define('AgentRef.execute_with_schema', { params: 3, registers: 7 }, (f) => {
    for (let index = 0; index < 3; index++) f.emit('Borrow', 3 + index, index);
    f.call(3, '$agent_run', 3, 3);
    f.emit('Return', 3);
  });
  for (const [method, params] of [
    ['execute', 2],
    ['execute_with_schema', 3],
    ['chat', 2],
    ['stream', 3],
  ] as const) {
    prelude.define(`Builder.${method}`, { params, registers: params * 2 + 3 }, (f) => {
      const model = f.label();
      const agentMethod = method === 'execute_with_schema' ? method : 'execute';
      f.builtin(params, '$is_agent', 0, 1);
      f.emit('JumpIfNot', params, model);
      for (let index = 0; index < params; index++) f.emit('Borrow', params + index, index);
      f.call(params, `AgentRef.${agentMethod}`, params, agentMethod === 'execute' ? 2 : 3);
      f.emit('Return', params);
      f.place(model);
      for (let index = 0; index < params; index++) f.emit('Borrow', params + index, index);
      f.call(params, `ModelRef.${method}`, params, params);
      f.emit('Return', params);
    });
  }
}
