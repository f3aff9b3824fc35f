import type { Expression, ListenHandler } from '../syntax/expression.ts';
import { parseClosureBody, parseClosureParameters } from './parse-closure.ts';
import type { Parser } from './parser.ts';

export function parseListen(p: Parser): Expression {
  const { start } = p;
  p.bump();
  const call = p.headExpression();
  const handlers: ListenHandler[] = [];
  if (p.expect('{', 'after the call to listen to')) {
    while (!p.at('}') && !p.at('EndOfFile')) {
      const before = p.position;
      handlers.push(p.within({ inHead: false, inArm: false }, () => parseHandler(p)));
      p.eat(',');
      if (p.position === before) p.bump();
    }
    p.expect('}', 'after the handlers');
  }
  return { kind: 'ListenExpression', id: p.newId(), span: p.spanFrom(start), call, handlers };
}

function parseHandler(p: Parser): ListenHandler {
  const { start } = p;
  const messageSpan = p.tokenSpan;
  const { message, catchAll } = parseMessageType(p);
  if (!p.expect('=>', 'after the message type')) {
    p.skipBalanced((kind) => kind === '=>' || kind === ',');
    p.eat('=>');
  }
  const hasParameters = p.at('|') || p.at('||');
  if (!hasParameters) p.unexpected('expected the parameter of the handler: `|message|`');
  const parameters = hasParameters ? parseClosureParameters(p) : [];
  const second = parameters[1];
  if (second !== undefined) p.report('C0100', second.span, 'a handler takes one parameter: the message');
  const { returnType, body } = parseClosureBody(p);
  return {
    kind: 'ListenHandler',
    id: p.newId(),
    span: p.spanFrom(start),
    messageSpan,
    message,
    catchAll,
    parameter: parameters[0],
    returnType,
    body,
  };
}

function parseMessageType(p: Parser): { message: string; catchAll: boolean } {
  if (p.at('String')) {
    const message = p.tokens.texts.get(p.position) ?? '';
    p.bump();
    return { message, catchAll: false };
  }
  if (p.atWord('_')) {
    p.bump();
    return { message: '_', catchAll: true };
  }
  if (!p.atName()) {
    p.unexpected('expected a message type such as `"question"`, or `_`');
    return { message: '', catchAll: false };
  }
  const message = p.text;
  const span = p.tokenSpan;
  p.syntaxError('C0100', span, `the message type \`${message}\` needs quotes`, {
    help: `write \`"${message}"\``,
    fix: { title: 'add quotes', edits: [{ span, text: `"${message}"` }] },
  });
  p.bump();
  return { message, catchAll: false };
}
