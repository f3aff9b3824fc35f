import { LISTEN_SESSION } from '../group.ts';
import { ROUTE } from '../internals/agents.ts';
import type { Body, PreludeBuilder } from './define.ts';

const HANDLERS = 3;
const SESSION = LISTEN_SESSION;
const STATE = 5;
const MESSAGE = 6;
const INDEX = 7;
const ERROR = 8;
const WINDOW = 10;

/** `listen`, `execute` on agents, and the methods of builders, which may be of a model or of an agent. */
export function defineAgents(prelude: PreludeBuilder): void {
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
  const [finished, routed] = [f.label(), f.label()];
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
  f.emit('Borrow', WINDOW + 1, MESSAGE);
  f.builtin(INDEX, '$listen_route', WINDOW, 2);
  f.emit('JumpIfEqInt', INDEX, ROUTE.again, loop);
  f.emit('JumpIfEqInt', INDEX, ROUTE.finished, finished);
  f.emit('Borrow', WINDOW + 1, HANDLERS);
  f.emit('Borrow', WINDOW + 2, INDEX);
  f.builtin(WINDOW, '$listen_call', WINDOW, 3);
  f.emit('GetItem', WINDOW + 1, WINDOW, 0);
  f.emit('GetItem', WINDOW + 2, WINDOW, 1);
  f.place(start);
  f.builtin(MESSAGE, '$apply', WINDOW + 1, 2);
  f.place(end);
  f.emit('Borrow', WINDOW, STATE);
  f.emit('Borrow', WINDOW + 1, MESSAGE);
  f.builtin(INDEX, '$listen_replied', WINDOW, 2);
  f.emit('JumpIfEqInt', INDEX, ROUTE.again, loop);
  f.emit('Jump', finished);
  f.place(caught);
  f.emit('Borrow', WINDOW, STATE);
  f.emit('Borrow', WINDOW + 1, ERROR);
  f.builtin(INDEX, '$listen_failed', WINDOW, 2);
  f.place(finished);
  f.emit('LoadNil', SESSION);
  f.emit('Borrow', WINDOW, STATE);
  f.builtin(MESSAGE, '$agent_result', WINDOW, 1);
  f.emit('Return', MESSAGE);
  f.handler(start, end, caught, ERROR);
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
