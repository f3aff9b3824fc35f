import type { Expression, ListenExpression, ListenHandler } from '../syntax/expression.ts';
import { compileHandler } from './closures.ts';
import { value } from './evaluate.ts';
import type { Frame } from './frame.ts';
import { tagText } from './type-text.ts';

interface AgentCall {
  readonly node: Expression;
  readonly agent: Expression;
  readonly method: string;
  readonly prompt: Expression | undefined;
}

export function compileListen(frame: Frame, expression: ListenExpression, dst: number): void {
  const call = agentCall(expression.call);
  const index = declareListen(frame, expression, call);
  frame.scoped(() => {
    const window = frame.reserve(2 + expression.handlers.length);
    value(frame, call.agent, window);
    if (call.prompt === undefined) frame.emit('LoadNil', window + 1);
    else value(frame, call.prompt, window + 1);
    expression.handlers.forEach((handler, position) => compileHandler(frame, handler, window + 2 + position));
    frame.at(expression);
    frame.emit('ListenBegin', dst, index, window);
  });
}

/** `A.execute(p)`, `A.with_memory(m).execute(p)`, `A(p)`; anything else must give an agent or builder itself. */
function agentCall(call: Expression): AgentCall {
  switch (call.kind) {
    case 'ParenExpression':
      return agentCall(call.expression);
    case 'AwaitExpression':
    case 'CastExpression':
      return agentCall(call.operand);
    case 'MethodCallExpression':
      return { node: call, agent: call.receiver, method: call.method.text, prompt: call.arguments[0]?.value };
    case 'CallExpression':
      return { node: call, agent: call.callee, method: 'execute', prompt: call.arguments[0]?.value };
    default:
      return { node: call, agent: call, method: 'execute', prompt: undefined };
  }
}

function declareListen(frame: Frame, expression: ListenExpression, { node, method }: AgentCall): number {
  const { builder } = frame;
  const { schemaArguments } = frame.facts;
  const result = schemaArguments.get(expression.id) ?? schemaArguments.get(node.id);
  const handlers = expression.handlers.map((handler) => {
    const tag = handler.parameter && frame.facts.schemaArguments.get(handler.parameter.id);
    return {
      keys: handler.messages.length === 0 ? ['_'] : handler.messages.map((message) => message.value),
      params: handler.parameter === undefined ? 0 : 1,
      ...(tag === undefined ? {} : { type: tagText(builder, tag) }),
      ...(isParallel(handler) ? { parallel: true } : {}),
    };
  });
  const { listens } = builder.module;
  const name = `$listen_${listens.length}`;
  return (
    listens.push({
      name,
      method,
      ...(result === undefined ? {} : { result: tagText(builder, result) }),
      handlers,
    }) - 1
  );
}

function isParallel({ options }: ListenHandler): boolean {
  const value = options.find(({ label }) => label?.text === 'parallel')?.value;
  return value?.kind === 'BoolLiteral' && value.value;
}
